package catalogserver

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
)

func TestCheckComplainsOfEverything(t *testing.T) {
	broken := indexOf(t, fstest.MapFS{"catalog.yaml": {Data: []byte("schema: olm.package\nname: p\n")}}, "sha256:broken")
	catalogs := []Catalog{
		{Name: "good", Origin: &fakeOrigin{index: onePackage(t, "one")}},
		{Name: "broken", Origin: &fakeOrigin{index: broken}},
		{Name: "absent", Origin: &fakeOrigin{err: errors.New("not there")}},
	}
	err := Check(t.Context(), catalogs, quiet)
	if err == nil {
		t.Fatal("no complaint")
	}
	for _, want := range []string{"catalog broken from a test", "the package has no channel", "read catalog absent from a test: not there"} {
		must.Contain(t, "want in it", err.Error(), want)
	}
	must.NoError(t, Check(t.Context(), catalogs[:1], quiet))
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	var log lines
	text := strings.Repeat("schema: olm.package\nname: P!\n---\n", reportedProblems+5)
	x := indexOf(t, fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}, "sha256:broken")
	must.Value(Read(t.Context(), Catalog{Name: "c", Origin: &fakeOrigin{index: x}}, slog.New(slog.NewTextHandler(&log, nil))))(t)
	if n := strings.Count(log.String(), "not served as written"); n != reportedProblems || !log.has("more problems") {
		t.Errorf("%d problems are in the log, want %d and how many more there are:\n%s", n, reportedProblems, log.String())
	}
}

func TestTerminated(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	var log lines
	logger := slog.New(slog.NewTextHandler(&log, nil))
	Terminated(path, errors.New("a long reason"), logger)
	Terminated(path, errors.New("the reason"), logger)
	must.Equal(t, "read file", string(must.Value(os.ReadFile(path))(t)), "the reason\n")
	Terminated("", errors.New("the reason"), logger)
	if log.has("termination") {
		t.Errorf("log: %s", log.String())
	}
	Terminated(filepath.Join(dir, "no", "log"), errors.New("the reason"), logger)
	if !log.has("cannot write the termination log") {
		t.Error("that nothing could be written is not said")
	}
}
