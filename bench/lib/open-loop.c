/*
 * A load at a constant rate over HTTP/1.1: open-loop PORT RATE SECONDS CONNECTIONS <request
 * A request is due when the rate says so, not when an answer before it is there, and its latency counts from the moment
 * it was due: a server that stalls is charged for all that waited meanwhile (no coordinated omission). A connection
 * carries one request at a time; what finds none free waits, and pays. Prints one JSON object; times in milliseconds.
 * In C because one core has to outrun a server that another core is busy with.
 *
 * A generator that loses its core sends late and reads late, and what it then finds is no latency of the server. How
 * much of each request's time may be its own is counted apart: from when it could have sent (due, and a connection was
 * free) to when it did, and from when it last looked for answers to when it found this one. Time in which no connection
 * was free is the server's.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Few events at a time: what is due meanwhile waits until they are read. */
enum { MAX_REQUEST = 1 << 20, MAX_HEAD = 1 << 16, MAX_EVENTS = 8 };

/* After the last request was due, an answer is waited for no longer than this. */
static const double PATIENCE_S = 10;

struct client {
  int socket;
  long request;  /* under way, or -1 */
  long received; /* bytes of its answer */
  long expected; /* bytes in all; 0 until the head is there */
};

static char head[MAX_HEAD + 1];

static void fail(const char *what) {
  fprintf(stderr, "open-loop: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double percentile(const double *sorted, long count, double share) {
  long index = (long)(count * share);
  return count == 0 ? 0 : sorted[index < count ? index : count - 1];
}

static int connected(int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  int one = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&to, sizeof to) != 0) fail("connect");
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return descriptor;
}

/* Length of the answer that begins in `head`; it must be 200 and say its length, and its head must come in one piece. */
static long answer_bytes(long count) {
  head[count] = 0;
  char *body = strstr(head, "\r\n\r\n"), *length = strcasestr(head, "\r\ncontent-length: ");
  if (strncmp(head, "HTTP/1.1 200", 12) != 0 || body == NULL || length == NULL || length > body) {
    fprintf(stderr, "open-loop: not the answer that is measured: %.300s\n", head);
    exit(1);
  }
  return body + 4 - head + atol(length + 18);
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: open-loop PORT RATE SECONDS CONNECTIONS <request\n");
    return 2;
  }
  int port = atoi(argv[1]), connections = atoi(argv[4]);
  double rate = atof(argv[2]);
  long total = (long)(rate * atof(argv[3]));
  char *request = malloc(MAX_REQUEST);
  struct client *clients = calloc(connections, sizeof *clients), **idle = calloc(connections, sizeof *idle);
  double *latencies = malloc(total * sizeof *latencies), *own = malloc(total * sizeof *own);
  if (request == NULL || clients == NULL || idle == NULL || latencies == NULL || own == NULL) fail("memory");
  long size = fread(request, 1, MAX_REQUEST, stdin);

  int poll = epoll_create1(0);
  for (int index = 0; index < connections; index++) {
    clients[index] = (struct client){.socket = connected(port), .request = -1};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &clients[index]};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, clients[index].socket, &event) != 0) fail("epoll_ctl");
    idle[index] = &clients[index];
  }

  /* Pages that are touched for the first time during the run would cost time there. */
  memset(latencies, 0, total * sizeof *latencies);
  memset(own, 0, total * sizeof *own);

  long free_clients = connections, sent = 0, answered = 0, lost = 0;
  double start = seconds_now(), now = start, could_send = start, looked = start, last_due = start + total / rate;
  struct epoll_event events[MAX_EVENTS];
  while (answered + lost < total && now < last_due + PATIENCE_S && free_clients + (sent - answered - lost) > 0) {
    for (;;) {
      now = seconds_now();
      double due = start + sent / rate;
      if (sent == total || free_clients == 0 || due > now) break;
      struct client *client = idle[--free_clients];
      client->request = sent;
      client->received = client->expected = 0;
      own[sent++] = (now - (due > could_send ? due : could_send)) * 1000;
      if (write(client->socket, request, size) != size) fail("write");
    }
    could_send = now;
    int ready = epoll_wait(poll, events, MAX_EVENTS, 0);
    double found = seconds_now();
    for (int index = 0; index < ready; index++) {
      struct client *client = events[index].data.ptr;
      long count = read(client->socket, head, MAX_HEAD);
      if (count < 0 && errno == EAGAIN) continue;
      if (count <= 0) { /* the server has closed it */
        if (client->request >= 0) lost++;
        close(client->socket);
        client->request = -1;
        continue;
      }
      if (client->expected == 0) client->expected = answer_bytes(count);
      client->received += count;
      if (client->received < client->expected) continue;
      now = seconds_now();
      latencies[answered++] = (now - (start + client->request / rate)) * 1000;
      own[client->request] += (now - looked) * 1000;
      client->request = -1;
      idle[free_clients++] = client;
    }
    looked = found;
  }

  double took = seconds_now() - start;
  qsort(latencies, answered, sizeof *latencies, ascending);
  qsort(own, sent, sizeof *own, ascending);
  printf("{\"perSecond\":%.1f,\"p50Ms\":%.4f,\"p99Ms\":%.4f,\"p999Ms\":%.4f,\"maxMs\":%.4f,\"unanswered\":%ld,\"ownP99Ms\":%.4f}\n",
         answered / took, percentile(latencies, answered, 0.5), percentile(latencies, answered, 0.99), percentile(latencies, answered, 0.999),
         percentile(latencies, answered, 1), total - answered, percentile(own, sent, 0.99));
  return 0;
}
