package authoring

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"
)

// lockedBuffer is a stream that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// await waits for what a pattern matches and returns its group.
func (b *lockedBuffer) await(t *testing.T, pattern string) string {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b.mu.Lock()
		match := regexp.MustCompile(pattern).FindStringSubmatch(b.String())
		b.mu.Unlock()
		if match != nil {
			return match[len(match)-1]
		}
	}
	t.Fatalf("%s is never said:\n%s", pattern, b.String())
	return ""
}

func TestCatalogServeUntilInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "served")
	writeCatalog := func(content string) {
		must.NoError(t, os.MkdirAll(dir, 0o755))
		must.NoError(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(content), 0o644))
	}
	writeCatalog(sound)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log lockedBuffer
	cmd := NewCatalog(command.Streams{Out: io.Discard, Err: &log})
	cmd.SetArgs([]string{"serve", "mine=" + dir, "--port", "127.0.0.1:0", "--http-port", "127.0.0.1:0", "--debug", "--termination-log", ""})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()

	url := "http://" + log.await(t, `for=HTTP address=(\S+)`) + "/catalogs/mine/api/v1/metas?schema=olm.package"
	log.await(t, "msg=ready")
	if got := getBody(t, url); !strings.Contains(got, `"name":"bar"`) {
		t.Errorf("got %q", got)
	}
	writeCatalog(upgrades)
	process := must.Value(os.FindProcess(os.Getpid()))(t)
	must.NoError(t, process.Signal(syscall.SIGHUP))
	log.await(t, `msg="serving new content" catalog=mine`)
	if got := getBody(t, url); !strings.Contains(got, `"name":"foo"`) {
		t.Errorf("after the change: %q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("interrupted: %v", err)
	}
}

func getBody(t *testing.T, url string) string {
	t.Helper()
	answer := must.Value(http.Get(url))(t)
	defer answer.Body.Close()
	body := must.Value(io.ReadAll(answer.Body))(t)
	return string(body)
}

func TestCatalogServeAddresses(t *testing.T) {
	for port, want := range map[string]string{"50051": ":50051", "0": ":0", "": "", "127.0.0.1:1": "127.0.0.1:1", ":1": ":1", "[::1]:1": "[::1]:1"} {
		if got := address(port); got != want {
			t.Errorf("address(%q) = %q, want %q", port, got, want)
		}
	}
}
