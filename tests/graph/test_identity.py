"""The table of identities: identifiers become IRIs and back, and only what it says is a link."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config import profiles
from fedkg.core.terms import Blank, Edge, Iri, Literal, Term, Through
from fedkg.errors import ProfileError
from fedkg.graph import identity
from fedkg.graph.identity import IdentifierTemplate, Identity

SAME = "http://www.w3.org/2002/07/owl#sameAs"
WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
BUNDLED = identity.load()
IDENTIFIERS = st.from_regex(r"[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?", fullmatch=True)


def edge(relation: str, target: Term, subject: str = f"{WD}Q1") -> Edge:
    """What an endpoint said of an item."""
    return Edge(Iri(subject), Iri(relation), target, "out", "wikidata")


@pytest.mark.parametrize(
    ("relation", "literal", "iri"),
    [
        ("P486", "D006261", "http://id.nlm.nih.gov/mesh/D006261"),
        ("P646", "/m/0jcx", "http://rdf.freebase.com/ns/m.0jcx"),
        ("P352", "P04637", "http://purl.uniprot.org/uniprot/P04637"),
        ("P685", "9606", "http://purl.uniprot.org/taxonomy/9606"),
        ("P592", "CHEMBL25", "http://rdf.ebi.ac.uk/resource/chembl/molecule/CHEMBL25"),
        ("P683", "15365", "http://purl.obolibrary.org/obo/CHEBI_15365"),
        ("P699", "DOID:14330", "http://purl.obolibrary.org/obo/DOID_14330"),
        ("P686", "GO:0008150", "http://purl.obolibrary.org/obo/GO_0008150"),
        ("P5270", "MONDO:0005180", "http://purl.obolibrary.org/obo/MONDO_0005180"),
        ("P2892", "C0018923", "http://identifiers.org/umls/C0018923"),
        ("P715", "DB00945", "http://identifiers.org/drugbank/DB00945"),
        ("P715", "00945", "http://identifiers.org/drugbank/DB00945"),
    ],
)
def test_wikidata_identifiers_stand_for_iris(relation: str, literal: str, iri: str) -> None:
    """Both ways: the item's identifier leads to the IRI, the IRI to the identifier that is looked up."""
    stated = edge(f"{WDT}{relation}", Literal(literal))
    assert Iri(iri) in {link.end for link in BUNDLED.links(stated)}
    assert Literal(literal) in BUNDLED.backward([Iri(iri)])[Iri(f"{WDT}{relation}")]


def test_cross_references_of_the_disease_ontology() -> None:
    """A text such as UMLS_CUI:C0018923 stands for an IRI; one of an unknown vocabulary for none."""
    relation = "http://www.geneontology.org/formats/oboInOwl#hasDbXref"
    known, unknown = (edge(relation, Literal(text), "http://x/d") for text in ("UMLS_CUI:C0018923", "KEGG:05200"))
    assert [link.end for link in BUNDLED.links(known)] == [Iri("http://identifiers.org/umls/C0018923")]
    assert not list(BUNDLED.links(unknown))


def test_only_links_are_links() -> None:
    """Neither another relation, nor a link to itself, nor one over a mediator, nor an identifier of somebody else's."""
    a, b = Iri("http://x/a"), Iri("http://x/b")
    same = Edge(a, Iri(SAME), b, "in", "e")
    assert list(BUNDLED.links(same)) == [same]
    through = Through(Iri("http://x/m"), Iri(SAME))
    others = [
        Edge(a, Iri("http://x/knows"), b, "out", "e"),
        Edge(a, Iri(SAME), a, "out", "e"),
        Edge(a, Iri(SAME), b, "out", "e", through=through),
        Edge(a, Iri(SAME), Literal("b"), "out", "e"),
        Edge(a, Iri(SAME), Blank("b"), "out", "e"),
        Edge(a, Iri(SAME), Iri("http://x/what nobody can ask for"), "out", "e"),
        edge(f"{WDT}P486", Literal("D006261"), "http://x/no-item"),
    ]
    assert [link for other in others for link in BUNDLED.links(other)] == []


@given(IDENTIFIERS)
def test_a_template_is_read_both_ways(text: str) -> None:
    """Law: what an identifier becomes has that identifier."""
    for template in BUNDLED.templates:
        value = template.literal.replace("$1", text)
        iri = template.iri_of(value)
        assert iri
        assert iri.queryable
        assert template.value_of(iri) == value


@given(st.text())
def test_whatever_stands_in_a_literal_no_iri_is_broken_out_of(text: str) -> None:
    """A hostile identifier makes no IRI that a query could not carry."""
    for template in BUNDLED.templates:
        iri = template.iri_of(template.literal.replace("$1", text))
        assert iri is None or iri.queryable


def test_a_claim_is_checked_against_the_table() -> None:
    """What an edge says that its literal identifies must be what the table says."""
    right, wrong = (
        Edge(Iri(f"{WD}Q1"), Iri(f"{WDT}P486"), Literal("D1"), "out", "e", identifies=Iri(iri))
        for iri in ("http://id.nlm.nih.gov/mesh/D1", "http://id.nlm.nih.gov/mesh/D2")
    )
    assert BUNDLED.allows(right)
    assert not BUNDLED.allows(wrong)
    through = Through(Iri("http://x/m"), Iri("http://x/p"))
    assert not BUNDLED.allows(msgspec.structs.replace(right, through=through)), "it is a mediator's, not the item's"
    assert not Identity().allows(right)
    assert BUNDLED.allows(edge("http://x/p", Literal("any")))


def test_who_is_asked_for_identifiers() -> None:
    """Only items can have an item's identifiers; any entity can be linked by a predicate."""
    item, other = Iri(f"{WD}Q1"), Iri("http://x/a")
    forward = BUNDLED.forward([item, other])
    assert forward[Iri(SAME)] == [item, other]
    assert forward[Iri(f"{WDT}P486")] == [item]
    assert list(forward) == list(BUNDLED.backward([item, other])), "the same relations in the same order"
    assert BUNDLED.backward([other])[Iri(f"{WDT}P486")] == []


def test_links_are_not_plumbing_in_a_federation() -> None:
    """What the profile skips as plumbing is fetched where it joins; the rest stays skipped."""
    generic = profiles.find("generic")
    skip = BUNDLED.shown(generic).shape.edges.skip
    assert SAME in generic.shape.edges.skip
    assert set(generic.shape.edges.skip) - set(skip) == {SAME}
    assert Identity().shown(generic) == generic


def test_the_users_own_table_adds_to_the_bundled_one(tmp_path: Path) -> None:
    """A file of that name beside one's own profiles; it is no profile itself."""
    (tmp_path / "identity.toml").write_text('links = ["http://x/twin"]\n', encoding="utf-8")
    table = identity.load(str(tmp_path))
    assert set(table.predicates) - set(BUNDLED.predicates) == {"http://x/twin"}
    assert table.templates == BUNDLED.templates
    assert "identity" not in profiles.names(str(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "links = 1",
        'links = ["no iri"]',
        "[[template]]",
        '[[template]]\nrelation = "http://x/p"\nliteral = "$1"\niri = "http://y/"',
        '[[template]]\nrelation = "http://x/p"\nliteral = "$1"\niri = "http://y/ $1"',
        "[",
    ],
)
def test_a_table_that_does_not_fit_is_refused(text: str) -> None:
    """The error names the file."""
    with pytest.raises(ProfileError, match=r"own\.toml") as caught:
        identity.parse(text, "own.toml")
    assert "docs/endpoints.md" in caught.value.hint


def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """Bytes that are no text."""
    (tmp_path / "identity.toml").write_bytes(b"\xff")
    with pytest.raises(ProfileError, match="UTF-8"):
        identity.load(str(tmp_path))


def test_a_template_of_another_form_says_nothing() -> None:
    """Neither of a literal nor of an IRI."""
    template = IdentifierTemplate("http://x/id", "ID:$1", "http://y/$1/about")
    assert template.iri_of("1") is None
    assert template.value_of(Iri("http://y/1")) is None
    assert template.value_of(Iri("http://y/1/about")) == "ID:1"
