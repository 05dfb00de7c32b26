// Forwards from a loopback port to the server and adds the API key: the conformance tool has no option for one.
// It keeps every other header, Host among them, as it came. Usage: node proxy.mjs HOST:PORT KEY
import http from 'node:http';

const [host, port] = process.argv[2].split(':');
const key = process.argv[3];

const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${key}` };
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    // Some scenarios send their bodies in chunks; the server wants to know the length before.
    const body = Buffer.concat(chunks);
    delete headers['transfer-encoding'];
    if (request.method === 'POST') headers['content-length'] = body.length;
    const forwarded = http.request({ host, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    forwarded.end(body);
  });
});
proxy.listen(0, '127.0.0.1', () => console.log(`proxy on ${proxy.address().port}`));
