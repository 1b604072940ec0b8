"""Questions asked and recorded: runners, executors, result files, bundles and replays."""
