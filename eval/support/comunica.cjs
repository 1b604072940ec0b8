// Comunica's file server over the files that are named, on loopback alone: its own program compiles its configuration at
// each start, which takes half a minute, and binds all interfaces.
'use strict';
const net = require('node:net');
const path = require('node:path');

const [modules, port, seconds, ...files] = process.argv.slice(2);
const { QueryEngine } = require(path.join(modules, '@comunica/query-sparql-file'));
const { HttpServiceSparqlEndpoint, QueryEngineFactoryBase } = require(path.join(modules, '@comunica/actor-init-query'));

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (place, ...rest) {
  return typeof place === 'number' ? listen.call(this, place, '127.0.0.1', ...rest) : listen.call(this, place, ...rest);
};
QueryEngineFactoryBase.prototype.create = async () => new QueryEngine();
new HttpServiceSparqlEndpoint({
  context: { sources: files.map((file) => path.resolve(file)), lenient: true },
  port: Number(port),
  timeout: Number(seconds) * 1000,
  workers: 1,
}).run(process.stdout, process.stderr);
