package authoring

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/test/must"
)

// serveLog is what a command has written so far.
type serveLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *serveLog) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *serveLog) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var opmListening = regexp.MustCompile(`for=gRPC address=\S+:([0-9]+)`)

// TestOpmServe serves a catalog to a client, cold and then from its cache, until it is interrupted.
func TestOpmServe(t *testing.T) {
	cache := t.TempDir()
	for _, form := range []string{"cold", "from the cache"} {
		t.Run(form, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			var log serveLog
			ended := make(chan int, 1)
			go func() {
				ended <- RunOpm(ctx, []string{"serve", "../../../examples/catalog", "--port", "0", "--cache-dir", cache, "-t", filepath.Join(cache, "term.log")},
					strings.NewReader(""), &log, &log)
			}()
			packages := askServer(t, &log)
			if want := []string{"greeter-operator", "guestbook-operator"}; !slices.Equal(packages, want) {
				t.Errorf("packages %v, want %v", packages, want)
			}
			stop()
			if code := <-ended; code != 0 {
				t.Errorf("exit code %d:\n%s", code, log.String())
			}
		})
	}
}

// askServer asks the server that writes the log for its packages, once it is ready.
func askServer(t *testing.T, log *serveLog) []string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(log.String(), "msg=ready") {
		if time.Now().After(deadline) {
			t.Fatalf("it is not ready:\n%s", log.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
	match := opmListening.FindStringSubmatch(log.String())
	if match == nil {
		t.Fatalf("no address in\n%s", log.String())
	}
	client := must.Value(grpccatalog.Dial("127.0.0.1:"+match[1], grpccatalog.Options{}))(t)
	defer client.Close()
	var packages []string
	for name, err := range client.Packages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, name)
	}
	return packages
}

func TestOpmServeSettles(t *testing.T) {
	tests := map[string]struct {
		flags   opmServeFlags
		given   []string
		enforce bool
		pprof   string
		fails   bool
	}{
		"nothing is given":                     {},
		"a kept cache is checked":              {flags: opmServeFlags{cacheDir: "d"}, enforce: true},
		"not when it is only filled":           {flags: opmServeFlags{cacheDir: "d", cacheOnly: true}},
		"not when that is said":                {flags: opmServeFlags{cacheDir: "d"}, given: []string{"cache-enforce-integrity"}},
		"a cache that is not kept":             {flags: opmServeFlags{enforce: true}, given: []string{"cache-enforce-integrity"}, enforce: true, fails: true},
		"the profile of the start needs a way": {flags: opmServeFlags{profileStart: true}, pprof: "localhost:6060"},
		"unless that is said":                  {flags: opmServeFlags{profileStart: true, pprof: ":1"}, given: []string{"pprof-addr"}, pprof: ":1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.flags.settle(func(flag string) bool { return slices.Contains(tc.given, flag) })
			if (err != nil) != tc.fails || tc.flags.enforce != tc.enforce || tc.flags.pprof != tc.pprof {
				t.Errorf("%+v, %v", tc.flags, err)
			}
		})
	}
}
