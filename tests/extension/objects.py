"""The same without names: a Session takes objects."""

from fedkg_example.embedder import Letters
from fedkg_example.method import METHOD
from fedkg_example.retriever import RETRIEVER
from fedkg_example.vendor import FirstPath

from fedkg import Session
from fedkg.cache.memory import MemoryStore
from fedkg.embed.lazy import LazySimilarity

similarity = LazySimilarity(Letters(), MemoryStore())
with Session(
    "sample", chat=FirstPath(), similarity=similarity, retriever=RETRIEVER, method=METHOD, cache=False
) as session:
    answer = session.run(session.ask("What is the population of New Zealand?"))
    print(answer.text())
similarity.close()
