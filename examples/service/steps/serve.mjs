import { createServer } from 'node:http';

// Containers may share a network, so the port to listen on is assigned by the service.
createServer((request, response) => response.end(`you asked for ${request.url}\n`)).listen(
  Number(process.env.BAT_PORT_http),
);
