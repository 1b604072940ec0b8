"""Endpoints as graphs: neighbourhoods, labels, entities by name, and several endpoints as one."""
