package packageserver

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
)

// damaged publishes a catalog whose index is a file that cannot give what is said of one package, and returns what mends the file.
func (w *world) damaged(t *testing.T, ref, pkg string, packages ...string) (mend func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index")
	x := must.Value(catalog.Build(t.Context(), testCatalog(packages...), "sha256:"+strings.Join(packages, ","), path, catalog.LoadOptions{}))(t)
	t.Cleanup(func() { x.Close() })
	mend = damage(t, path, func() []string {
		var unread []string
		for _, name := range x.PackageNames() {
			if _, _, err := newDocument(x, name); err != nil {
				unread = append(unread, name)
			}
		}
		return unread
	}, pkg)
	namespace, name, _ := strings.Cut(ref, "/")
	w.contents.Publish(catalog.Ref{Namespace: namespace, Name: name}, catalogstore.Entry{Index: x})
	return mend
}

// damage changes the one byte of an index file which makes a package, and no other, unreadable.
func damage(t *testing.T, path string, unread func() []string, pkg string) (mend func()) {
	t.Helper()
	data := must.Value(os.ReadFile(path))(t)
	file := must.Value(os.OpenFile(path, os.O_RDWR, 0))(t)
	t.Cleanup(func() { file.Close() })
	write := func(at int, b byte) {
		if _, err := file.WriteAt([]byte{b}, int64(at)); err != nil {
			t.Error(err)
		}
	}
	for at := range data {
		write(at, data[at]^1)
		if slices.Equal(unread(), []string{pkg}) {
			return func() { write(at, data[at]) }
		}
		write(at, data[at])
	}
	t.Fatalf("no byte of %d makes %s unreadable", len(data), pkg)
	return nil
}

// versions are those of the packages of a list, in order.
func (w *world) versions(t *testing.T) []string {
	t.Helper()
	now := w.storage.present.now()
	var all []string
	for _, o := range now.offers("mine", "olm") {
		m := must.Value(o.whole(""))(t)
		for _, c := range m.Status.Channels {
			all = append(all, c.Name+" "+c.CurrentCSV)
		}
	}
	return all
}

// logged collects what is logged.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// TestWhatCannotBeRead of a new content stays as it was known, the rest is new, and it is tried again with growing pauses until it can.
func TestWhatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	var log logged
	w.storage.present.docs.log = funcr.New(func(_, line string) {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.lines = append(log.lines, line)
	}, funcr.Options{})
	w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0")
	events := w.follow(t, "mine", internalversion.ListOptions{ResourceVersion: w.revision()})
	mend := w.damaged(t, "olm/global", "b", "a@2.0.0", "b@2.0.0", "c@2.0.0")
	old := []string{"stable a.v2.0.0", "stable b.v1.0.0", "stable c.v2.0.0"}
	for i := range 3 {
		if got := w.versions(t); !slices.Equal(got, old) {
			t.Fatalf("at look %d: %v, want %v", i, got, old)
		}
		w.refresh(t)
	}
	if lines := log.take(); len(lines) != 1 || !strings.Contains(lines[0], `"first"="b"`) || !strings.Contains(lines[0], "packages cannot be read") {
		t.Errorf("logged: %q, want one line", lines)
	}
	must.Equal(t, "told", next(t, events, 2), []string{"MODIFIED a a.v2.0.0", "ADDED c c.v2.0.0"})

	mend()
	w.refresh(t)
	must.Equal(t, "it is tried again before it is due", w.versions(t), old)
	before := w.revision()
	w.clock.SetTime(w.clock.Now().Add(firstReading))
	w.refresh(t)
	if got, want := w.versions(t), []string{"stable a.v2.0.0", "stable b.v2.0.0", "stable c.v2.0.0"}; !slices.Equal(got, want) || w.revision() == before {
		t.Errorf("mended: %v at %s, want %v", got, w.revision(), want)
	}
	must.Equal(t, "told", next(t, events, 1), []string{"MODIFIED b b.v2.0.0"})
	if lines := log.take(); len(lines) != 1 || !strings.Contains(lines[0], "can be read again") {
		t.Errorf("logged: %q, want one line", lines)
	}
	if due := w.storage.present.docs.due(); due != nil {
		t.Error("another attempt is due")
	}
}

// TestPausesGrow between attempts, up to a bound.
func TestPausesGrow(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	w.damaged(t, "olm/global", "a", "a@2.0.0", "b@2.0.0")
	p := w.storage.present.docs.packs
	u := &p[len(p)-1].unread
	for i, want := range []time.Duration{2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		if got := u.next.Sub(w.clock.Now()); got != want*time.Second || u.attempts != i+1 {
			t.Fatalf("after %d attempts the next comes in %s, want %s", u.attempts, got, want*time.Second)
		}
		w.clock.SetTime(u.next.Add(-time.Nanosecond))
		w.refresh(t)
		w.clock.SetTime(u.next)
		w.refresh(t)
	}
}

// TestNothingKnownBefore of a package that cannot be read: it comes once it can be. That of another catalog, or of one of the same name that
// was deleted, is not taken for it.
func TestNothingKnownBefore(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "other/global", "b@1.0.0")
	w.offer(t, "olm/global", "a@1.0.0", "b@1.0.0")
	w.sources[1].UID = "made again"
	mend := w.damaged(t, "olm/global", "b", "a@2.0.0", "b@2.0.0")
	must.Equal(t, "versions", w.versions(t), []string{"stable a.v2.0.0"})
	mend()
	w.clock.SetTime(w.clock.Now().Add(firstReading))
	w.refresh(t)
	must.Equal(t, "versions", w.versions(t), []string{"stable a.v2.0.0", "stable b.v2.0.0"})
}

// TestATimerReadsAgain: no event is needed.
func TestATimerReadsAgain(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	mend := w.damaged(t, "olm/global", "a", "a@2.0.0", "b@2.0.0")
	mend()
	w.clock.SetTime(w.clock.Now().Add(firstReading))
	_, changed := w.storage.present.follow()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { w.keepUp(ctx); close(ended) }()
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Error("nothing was read again")
	}
	stop()
	<-ended
	must.Equal(t, "versions", w.versions(t), []string{"stable a.v2.0.0", "stable b.v2.0.0"})
}

// TestPinnedTextsAreBounded: what cannot be made again must not take all memory.
func TestPinnedTextsAreBounded(t *testing.T) {
	docs := []*document{{name: "a", pinned: &packed{quick: make([]byte, maxPinned)}}, {name: "b"}, {name: "c", pinned: &packed{quick: []byte{1}}}}
	if got := bounded(docs); len(got) != 2 || got[0].name != "a" || got[1].name != "b" {
		t.Errorf("%d are left", len(got))
	}
}

// TestPartOfAPackage that can be read is shown where nothing else is known; what was known whole goes before it.
func TestPartOfAPackage(t *testing.T) {
	for name, test := range map[string]struct {
		before []string
		want   []string
	}{
		"nothing known": {[]string{"b@1.0.0"}, []string{"beta a.v2.0.0"}},
		"known":         {[]string{"a@1.0.0"}, []string{"stable a.v1.0.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.offer(t, "olm/global", test.before...)
			text := string(testCatalog("a@3.0.0")["catalog.json"].Data) + `{"schema":"olm.channel","package":"a","name":"beta","entries":[{"name":"a.v2.0.0"}]}
				{"schema":"olm.bundle","package":"a","name":"a.v2.0.0","image":"quay.io/p:2","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}},
				{"type":"olm.csv.metadata","value":{"displayName":"A","provider":{"name":"Who"}}}]}`
			path := filepath.Join(t.TempDir(), "index")
			x := must.Value(catalog.Build(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(text)}}, "sha256:a", path, catalog.LoadOptions{}))(t)
			t.Cleanup(func() { x.Close() })
			mend := damage(t, path, func() []string {
				p, ok, err := Convert(x, "a")
				if err == nil || !ok {
					return nil
				}
				return []string{p.Status.Channels[0].Name}
			}, "beta")
			w.contents.Publish(catalog.Ref{Namespace: "olm", Name: "global"}, catalogstore.Entry{Index: x})
			must.Equal(t, "versions", w.versions(t), test.want)
			mend()
			w.clock.SetTime(w.clock.Now().Add(firstReading))
			w.refresh(t)
			must.Equal(t, "versions", w.versions(t), []string{"beta a.v2.0.0", "stable a.v3.0.0"})
		})
	}
}
