/* The yardstick of `websocket.py`: the least that a client of held WebSockets can cost. One epoll loop, a due time
 * per connection, no checks of what comes.
 * websocket PORT CONNECTIONS PER_SECOND MESSAGES RATE -> p50 and p99 of the echo in us, memory in kB, CPU in ms */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int connect_to(int port) {
    static const char ask[] = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    char answer[1024];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(0x7f000001)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    if (write(fd, ask, sizeof ask - 1) < 0 || read(fd, answer, sizeof answer) < 12) die("handshake");
    return fd;
}

int main(int argc, char **argv) {
    if (argc < 6) return 2;
    int port = atoi(argv[1]), held = atoi(argv[2]), messages = atoi(argv[4]);
    double per_s = atof(argv[3]), rate = atof(argv[5]);
    int *fds = malloc(held * sizeof *fds), epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    long *due = calloc(held, sizeof *due), *took = calloc(messages, sizeof *took), start = now_ns();
    unsigned char frame[6 + 64] = {0x81, 0x80 | 64}, in[4096];
    for (int n = 0; n < held; n++) {
        long wait = start + (long)(n * 1e9 / per_s) - now_ns();
        if (wait > 0) nanosleep(&(struct timespec){wait / 1000000000, wait % 1000000000}, 0);
        fds[n] = connect_to(port);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[n], &(struct epoll_event){.events = EPOLLIN, .data.u32 = n});
    }
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &(struct epoll_event){.events = EPOLLIN, .data.u32 = 0xffffffff});
    start = now_ns() + 500000000;
    for (int sent = 0, got = 0; got < messages;) {
        struct epoll_event events[64];
        long at = start + (long)(sent * 1e9 / rate);
        while (sent < messages && now_ns() >= at) {
            due[sent % held] = at;
            if (write(fds[sent % held], frame, sizeof frame) < 0) die("send");
            at = start + (long)(++sent * 1e9 / rate);
        }
        struct itimerspec set = {.it_value = {at / 1000000000, at % 1000000000}};
        if (sent < messages) timerfd_settime(timer, TFD_TIMER_ABSTIME, &set, 0);
        int ready = epoll_wait(epoll, events, 64, 5000);
        if (ready <= 0 && errno != EINTR) die("lost");
        for (int n = 0; n < ready; n++) {
            unsigned which = events[n].data.u32;
            if (which == 0xffffffff) {
                if (sent == messages) epoll_ctl(epoll, EPOLL_CTL_DEL, timer, 0);
                continue;
            }
            long came = read(fds[which], in, sizeof in);
            if (came <= 0) die("closed");
            if (came == 66) took[got++] = now_ns() - due[which];
        }
    }
    struct rusage used;
    long memory = 0; /* Not ru_maxrss, which begins with that of the parent. */
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &memory) == 1) break;
    getrusage(RUSAGE_SELF, &used);
    qsort(took, messages, sizeof *took, by_size);
    printf("%ld %ld %ld %ld\n", took[messages / 2] / 1000, took[messages * 99 / 100] / 1000, memory,
           (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000);
    return 0;
}
