/* The proof as nodes and edges, from the paths of an answer document; what is looked up later joins them. */

import { nameOf, term } from "./terms.js";

/** Nodes and edges by their ids; `paths` are lists of edge ids. */
export class Proof {
  constructor(answer) {
    this.nodes = new Map();
    this.edges = new Map();
    const ends = new Set(answer.answers.map((value) => value.term).filter(Boolean));
    this.paths = answer.paths.map(({ edges }) => edges.map((edge) => this.add(edge, false)));
    for (const ids of this.paths.filter((path) => path.length)) this.nodes.get(this.edges.get(ids[0]).start).topic = true;
    for (const node of this.nodes.values()) node.answer = ends.has(node.id);
  }

  /** Adds an edge of a document, once; its id. `near` says that it was only looked up beside the proof. */
  add(edge, near) {
    const target = edge.identifies ?? edge.object;
    const id = [edge.subject, edge.relation, edge.object, edge.endpoint].join(" ");
    if (this.edges.has(id)) return id;
    this.node(edge.subject, edge.labels, near);
    this.node(target, edge.labels, near);
    const start = edge.direction === "out" ? edge.subject : target;
    const end = edge.direction === "out" ? target : edge.subject;
    const name = nameOf(edge.relation, edge.labels);
    this.edges.set(id, { id, source: edge.subject, target, start, end, name, near, holds: undefined, edge });
    return id;
  }

  node(id, labels, near) {
    if (!this.nodes.has(id)) this.nodes.set(id, { id, name: nameOf(id, labels), kind: term(id).kind, near });
  }

  /** Notes what a verification came to for each edge. */
  verified(checks) {
    for (const { edge, holds } of checks) {
      const id = [edge.subject, edge.relation, edge.object, edge.endpoint].join(" ");
      if (this.edges.has(id)) this.edges.get(id).holds = holds;
    }
  }
}
