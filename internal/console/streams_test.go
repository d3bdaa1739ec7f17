package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// TestManyStreams: of 10,000 streams that are tried at once by night, and fewer by day, those above the bounds are refused and cost nothing that stays.
func TestManyStreams(t *testing.T) {
	manyStreams := sweep.Of(1500, 2500, 10_000)
	s := serveCluster(t, nil)
	server := &http.Server{Handler: s.console.Handler()}
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	var cookies []string
	for i := range 2 * allStreams / maxStreams {
		user := fmt.Sprint("user-", i)
		s.cluster.knows(user, user)
		made := must.Value(s.console.cluster.user(t.Context(), &credential{clock: s.clock, held: issued{token: user}}))(t)
		cookies = append(cookies, must.Value(s.console.sessions.begin(made))(t))
	}
	before := heap()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	counts := map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	turns := make(chan struct{}, 64)
	for i := range manyStreams {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			// The first session asks for more than it may have itself.
			code, err := openStream(ctx, listener.Addr().String(), s.host, cookies[max(0, i-2*maxStreams)%len(cookies)])
			if err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
			mu.Lock()
			counts[code]++
			mu.Unlock()
		})
	}
	all.Wait()
	if counts[http.StatusOK] != allStreams || counts[http.StatusOK]+counts[http.StatusTooManyRequests]+counts[http.StatusServiceUnavailable] != manyStreams || counts[http.StatusTooManyRequests] == 0 || counts[http.StatusServiceUnavailable] == 0 {
		t.Errorf("answers %v", counts)
	}
	grown := float64(heap()-before) / 1e6
	t.Logf("%d streams take %.1f MB, with both ends of their connections", allStreams, grown)
	if grown > 60 {
		t.Errorf("they take %.1f MB", grown)
	}
	cancel()
	must.Eventually(t, "the streams to end", func() error {
		if n := len(s.console.streams); n > 0 {
			return fmt.Errorf("there are %d", n)
		}
		return nil
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// openStream opens a stream until the context ends, and returns its status.
func openStream(ctx context.Context, at, host, cookie string) (int, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
	if err != nil {
		return 0, err
	}
	port := host[strings.LastIndex(host, ":")+1:]
	if _, err := fmt.Fprintf(conn, "GET /live HTTP/1.1\r\nHost: %s\r\nCookie: __Host-fairlead-console-%s=%s\r\n\r\n", host, port, cookie); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode, conn.Close()
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return answer.StatusCode, nil
}

// TestStreamsEnd with their session, and tell that something has changed and nothing else.
func TestStreamsEnd(t *testing.T) {
	s := serveCluster(t, nil)
	s.cluster.knows("token-of-alice", "alice")
	b := s.browser()
	b.logIn("token-of-alice")
	form := b.get("/installed").form(t)
	r := must.Value(http.NewRequestWithContext(t.Context(), "GET", "https://"+s.host+"/live?namespace=team", nil))(t)
	stream := must.Value(b.Do(r))(t)
	defer stream.Body.Close()
	must.Equal(t, "the stream", stream.Header.Get("Content-Type"), "text/event-stream")
	lines := bufio.NewReader(stream.Body)
	must.Equal(t, "its first line", must.Value(lines.ReadString('\n'))(t), "retry: 5000\n")
	for _, one := range s.console.sessions.all {
		one.user.changed()
	}
	_ = must.Value(lines.ReadString('\n'))(t)
	must.Equal(t, "a change", must.Value(lines.ReadString('\n'))(t)+must.Value(lines.ReadString('\n'))(t), "event: change\ndata: {}\n")
	b.do(http.MethodPost, logoutPath, "form="+form)
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, lines); ended <- err }()
	select {
	case err := <-ended:
		must.NoError(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on after the user has logged out")
	}
}

// TestSlowClients: who does not say what they want is not waited for.
func TestSlowClients(t *testing.T) {
	s := serveCluster(t, nil)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	s.console.TLS = nil // TLS only delays what is sent
	go func() { served <- s.console.Serve(ctx, listener) }()
	for name, text := range map[string]string{
		"headers without end": "GET /login HTTP/1.1\r\nHost: " + s.host + "\r\nX-Slow: ",
		"large headers":       "GET /login HTTP/1.1\r\nHost: " + s.host + "\r\nX-Large: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n",
	} {
		conn := must.Value(net.Dial("tcp", listener.Addr().String()))(t)
		begun := time.Now()
		_, _ = io.WriteString(conn, text)
		must.NoError(t, conn.SetReadDeadline(begun.Add(readHeaderTime+10*time.Second)))
		answer, err := io.ReadAll(conn)
		if err != nil && strings.Contains(err.Error(), "timeout") || strings.Contains(string(answer), " 200 ") {
			t.Errorf("%s: after %s: %q, %v", name, time.Since(begun), answer, err)
		}
		_ = conn.Close()
	}
	cancel()
	must.NoError(t, <-served)
}
