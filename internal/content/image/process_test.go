package image

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// child starts another process that pulls ref into the store. A variable of env
// without a value is taken away.
func child(t *testing.T, s *Store, ref string, env ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	self := must.Value(os.Executable())(t)
	out := &strings.Builder{}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childPulls+"="+ref, childStore+"="+string(s.dir))
	for _, each := range env {
		name, value, _ := strings.Cut(each, "=")
		cmd.Env = slices.DeleteFunc(cmd.Env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if value != "" {
			cmd.Env = append(cmd.Env, each)
		}
	}
	cmd.Stdout, cmd.Stderr = out, out
	must.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, out
}

// slowLayers delays what is sent of layers so that pulls overlap.
func slowLayers(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
		time.Sleep(200 * time.Millisecond)
	}
	next.ServeHTTP(w, r)
}

// layerRequests counts how often layers and configurations were asked for.
func layerRequests(r *testRegistry) (n int) {
	for _, each := range r.seen() {
		if strings.HasPrefix(each, "GET ") && strings.Contains(each, "/blobs/") {
			n++
		}
	}
	return n
}

func TestPullsAtOnceReadTheImageOnce(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "content")))))
	r.fault(slowLayers)

	t.Run("goroutines", func(t *testing.T) {
		s := openStore(t, Config{})
		r.seen()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				image, err := s.Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				defer image.Close()
				must.Equal(t, "files", readAll(t, image.FS()), map[string]string{"a": "content"})
			})
		}
		all.Wait()
		if n := layerRequests(r); n != 2 {
			t.Errorf("%d requests for blobs, want 2: one configuration, one layer", n)
		}
	})
	t.Run("processes", func(t *testing.T) {
		s := openStore(t, Config{})
		r.seen()
		first, firstOut := child(t, s, r.host+"/test/image:v1")
		second, secondOut := child(t, s, r.host+"/test/image:v1")
		if err := first.Wait(); err != nil || firstOut.String() != "content" {
			t.Errorf("first process: %v, %q", err, firstOut)
		}
		if err := second.Wait(); err != nil || secondOut.String() != "content" {
			t.Errorf("second process: %v, %q", err, secondOut)
		}
		if n := layerRequests(r); n != 2 {
			t.Errorf("%d requests for blobs, want 2: one configuration, one layer", n)
		}
	})
}

func TestKilledPullLeavesAStoreThatWorks(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	layer := gzipOf(t, tarOf(t, file("a", "content"), file("b", strings.Repeat("more ", 100_000))))
	d := r.push(t, "test/image:v1", imageOf(t, nil, layer))
	s := openStore(t, Config{})

	halfway := make(chan struct{})
	var once sync.Once
	r.fault(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.Method != http.MethodGet || !strings.Contains(req.URL.Path, "/blobs/") {
			next.ServeHTTP(w, req)
			return
		}
		// Return what the registry would send.
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, req)
		if sent, ok := answer.Body.Bytes(), answer.Code == http.StatusOK; ok && len(sent) == len(layer) {
			_, _ = w.Write(sent[:len(sent)/2])
			w.(http.Flusher).Flush()
			once.Do(func() { close(halfway) })
			<-req.Context().Done()
			return
		}
		next.ServeHTTP(w, req)
	})
	killed, out := child(t, s, r.host+"/test/image@"+d)
	select {
	case <-halfway:
	case <-time.After(20 * time.Second):
		t.Fatalf("the process did not get to the layer: %s", out)
	}
	must.NoError(t, killed.Process.Kill())
	_ = killed.Wait()
	r.fault(nil)

	if got := readDirNames(t, filepath.Join(string(s.dir), imagesDir)); len(got) != 0 {
		t.Errorf("a killed pull has stored %q", got)
	}
	orphans := readDirNames(t, filepath.Join(string(s.dir), tmpDir))
	if len(orphans) == 0 {
		t.Error("the process was killed too early or too late: it left nothing")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	image, err := s.Pull(ctx, r.host+"/test/image:v1", PullOptions{})
	must.NoErrorf(t, err, "pull after the kill")
	defer image.Close()
	if got := readAll(t, image.FS())["a"]; got != "content" {
		t.Errorf("pull after the kill: %q", got)
	}
	for _, kind := range []string{tmpDir, locksDir} {
		for _, orphan := range readDirNames(t, filepath.Join(string(s.dir), kind)) {
			age(t, filepath.Join(string(s.dir), kind, orphan))
		}
	}
	must.Value(Open(string(s.dir), Config{}))(t)
	if got := append(readDirNames(t, filepath.Join(string(s.dir), tmpDir)), readDirNames(t, filepath.Join(string(s.dir), locksDir))...); len(got) != 0 {
		t.Errorf("orphans left: %q", got)
	}
}
