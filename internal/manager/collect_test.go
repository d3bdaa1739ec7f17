package manager

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/test/must"
)

func TestCollectKeepsWhatPlansNeed(t *testing.T) {
	dir := t.TempDir()
	s := must.Value(openStores(Options{StoreDir: dir}))(t)
	digests := map[v1alpha1.InstallPlanPhase]string{}
	plans := v1alpha1.InstallPlanList{}
	for i, phase := range []v1alpha1.InstallPlanPhase{v1alpha1.InstallPlanPhaseInstalling, v1alpha1.InstallPlanPhaseRequiresApproval, v1alpha1.InstallPlanPhaseComplete} {
		digest := must.Value(s.contents.Put(t.Context(), fmt.Appendf(nil, "manifest %d", i)))(t)
		digests[phase] = digest
		plans.Items = append(plans.Items, v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(i)},
			Status: v1alpha1.InstallPlanStatus{Phase: phase, Plan: []*v1alpha1.Step{nil, {Resource: v1alpha1.StepResource{Manifest: fmt.Sprintf(`{"kind":"ContentReference","digest":%q,"size":10}`, digest)}}}}})
	}
	age(t, dir, time.Hour)
	scheme := must.Value(kubeconfig.Scheme())(t)
	c := collector{stores: s, reader: fake.NewClientBuilder().WithScheme(scheme).WithLists(&plans).Build(), maxBytes: 0}
	must.NoError(t, c.collect(t.Context()))
	for phase, digest := range digests {
		_, err := s.contents.Get(t.Context(), digest)
		if gone := errors.Is(err, fs.ErrNotExist); gone != (phase == v1alpha1.InstallPlanPhaseComplete) {
			t.Errorf("the manifest of a plan that is %s: %v", phase, err)
		}
	}
}

func TestCollectKeepsWhatIsServed(t *testing.T) {
	dir := t.TempDir()
	s := must.Value(openStores(Options{StoreDir: dir}))(t)
	const content = `{"schema":"olm.package","name":"a","defaultChannel":"stable"}`
	index := func(digest string) {
		t.Helper()
		x := must.Value(s.indexes.FS(t.Context(), digest, fstest.MapFS{"catalog.json": {Data: []byte(content)}}))(t)
		if digest == "sha256:served" {
			s.catalogs.Publish(catalog.Ref{Namespace: "olm", Name: "a"}, catalogstore.Entry{Index: x})
		}
	}
	index("sha256:served")
	index("sha256:served before")
	age(t, dir, 2*unusedIndexAge)
	index("sha256:served until now")
	scheme := must.Value(kubeconfig.Scheme())(t)
	c := collector{stores: s, reader: fake.NewClientBuilder().WithScheme(scheme).Build(), maxBytes: DefaultStoreBytes}
	must.NoError(t, c.collect(t.Context()))
	stats := must.Value(s.indexes.GC(t.Context(), 0))(t)
	if stats.Removed != 2 {
		t.Errorf("the collector left %d indexes, want 2: the one that is served and the one that was until now", stats.Removed)
	}
}

// age makes everything in a directory look as if nobody had used it for some time.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	old := time.Now().Add(-by)
	must.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	}))
}

// TestCollectKeepsWhatWillBeServed: right after a start nothing is served yet, and what catalogs served last may not be to be had from
// anywhere else.
func TestCollectKeepsWhatWillBeServed(t *testing.T) {
	dir := t.TempDir()
	s := must.Value(openStores(Options{StoreDir: dir}))(t)
	records := filepath.Join(dir, recordsDir)
	must.NoError(t, os.MkdirAll(records, 0o700))
	for _, name := range []string{"there", "gone"} {
		x := must.Value(s.indexes.FS(t.Context(), "sha256:"+name, fstest.MapFS{"catalog.json": {Data: []byte(`{"schema":"olm.package","name":"a","defaultChannel":"stable"}`)}}))(t)
		x.Close()
		must.NoError(t, os.WriteFile(filepath.Join(records, name+".json"), fmt.Appendf(nil, `{"Namespace":"olm","Name":%q,"Digest":"sha256:%s"}`, name, name), 0o600))
	}
	age(t, dir, 2*unusedIndexAge)
	scheme := must.Value(kubeconfig.Scheme())(t)
	there := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "there"}}
	c := collector{stores: s, records: records, reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(there).Build(), maxBytes: DefaultStoreBytes}
	must.NoError(t, c.collect(t.Context()))
	for _, name := range []string{"there", "gone"} {
		x, kept := s.indexes.Get(t.Context(), "sha256:"+name)
		if kept {
			x.Close()
		}
		_, noted := os.Stat(filepath.Join(records, name+".json"))
		if want := name == "there"; kept != want || (noted == nil) != want {
			t.Errorf("what a catalog served that is %s: kept %t, noted %v", name, kept, noted)
		}
	}
	// Notes that cannot be read are no reason to remove anything.
	c.records = filepath.Join(records, "there.json")
	if err := c.collect(t.Context()); err == nil {
		t.Error("notes that cannot be read are taken for none")
	}
}
