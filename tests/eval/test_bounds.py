"""Upper bounds: which figures a run that asks some of the sets keeps."""

import json
from pathlib import Path

from eval.quality.bounds import SETS, _before, _place


def test_sets_that_are_not_asked_keep_their_figures(tmp_path: Path) -> None:
    """Those of the sets that are asked are left out, with those of their supported part; what is no set goes."""
    file = tmp_path / "bounds.json"
    names = ["cwq-fb15k237", "cwq-fb15k237, all conditions in the graph", "metaqa-2hop", "targets"]
    file.write_text(json.dumps({"figures": {name: {"questions": 1} for name in names}}))
    assert _before(["cwq-fb15k237"], file) == {"metaqa-2hop": {"questions": 1}}
    assert _before(SETS, file) == {}
    assert _before([], tmp_path / "none.json") == {}


def test_rows_stand_in_the_order_of_the_sets() -> None:
    """A supported part comes after its set."""
    names = ["cwq-fb15k237, all conditions in the graph", "metaqa-2hop", "cwq-fb15k237"]
    assert sorted(names, key=_place) == ["metaqa-2hop", "cwq-fb15k237", "cwq-fb15k237, all conditions in the graph"]
