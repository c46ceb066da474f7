import { createServer } from 'node:http';

// The networks of containers are not kept apart everywhere: the port to listen on is assigned, never chosen.
createServer((request, response) => response.end(`you asked for ${request.url}\n`)).listen(
  Number(process.env.BAT_PORT_http),
);
