package catalogstore

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// as is the same cache, as another build of the program sees it.
func (c *Cache) as(t *testing.T, program string) *Cache {
	t.Helper()
	other := must.Value(OpenCache(c.dir))(t)
	other.program = program
	return other
}

func (c *Cache) build(t *testing.T, digest, content string) {
	t.Helper()
	x := must.Value(c.FS(t.Context(), digest, fstest.MapFS{"catalog.json": {Data: []byte(content)}}))(t)
	must.NoError(t, x.Close())
}

func (c *Cache) aged(t *testing.T, digest string, age time.Duration) {
	t.Helper()
	then := time.Now().Add(-age)
	must.NoError(t, os.Chtimes(c.path(digest, indexSuffix), then, then))
}

// TestAnIndexOfAnEarlierBuild is found when it is asked for, and is not taken for one of this build.
func TestAnIndexOfAnEarlierBuild(t *testing.T) {
	now := newCache(t)
	oldest, older := now.as(t, "oldest"), now.as(t, "older")
	oldest.build(t, "sha256:a", text("1.0.0"))
	older.build(t, "sha256:a", text("2.0.0"))
	oldest.aged(t, "sha256:a", time.Hour)
	if _, ok := now.Get(t.Context(), "sha256:a"); ok {
		t.Error("the index of another build is taken for one of this build")
	}
	x, ok := now.Earlier(t.Context(), "sha256:a")
	if !ok {
		t.Fatal("the index of an earlier build is not found")
	}
	must.Equal(t, "that of version", version(t, x), "2.0.0")
	if _, ok := now.Earlier(t.Context(), "sha256:b"); ok {
		t.Error("the index of another content is found")
	}
	older.aged(t, "sha256:a", 0)
	must.NoError(t, os.WriteFile(older.path("sha256:a", indexSuffix), []byte("another form"), 0o600))
	if x, ok = now.Earlier(t.Context(), "sha256:a"); !ok || version(t, x) != "1.0.0" {
		t.Error("one in another form, or damaged, hides one that can be read")
	}
}

// TestGCKeepsWhatAnEarlierBuildMade as long as this one has made nothing of the same content.
func TestGCKeepsWhatAnEarlierBuildMade(t *testing.T) {
	now := newCache(t)
	older := now.as(t, "older")
	for _, digest := range []string{"needed", "made again", "not needed"} {
		older.build(t, digest, text("1.0.0"))
		older.aged(t, digest, 48*time.Hour)
	}
	now.build(t, "made again", text("1.0.0"))
	must.Value(now.GC(t.Context(), 24*time.Hour, "needed", "made again"))(t)
	for path, want := range map[string]bool{
		older.path("needed", indexSuffix): true, older.path("made again", indexSuffix): false, older.path("not needed", indexSuffix): false,
		now.path("made again", indexSuffix): true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %t", filepath.Base(path), err == nil)
		}
	}
}
