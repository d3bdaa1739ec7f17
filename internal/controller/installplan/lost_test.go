package installplan

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// blobs is a content store that can lose what it holds.
type blobs map[string][]byte

func (b blobs) Put(_ context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	b[digest] = data
	return digest, nil
}

func (b blobs) Get(_ context.Context, digest string) ([]byte, error) {
	if data, ok := b[digest]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func (w *world) remove(t *testing.T, o client.Object) {
	t.Helper()
	must.NoError(t, w.Inner.Delete(t.Context(), o))
}

// referring keeps every manifest by reference, as if it were large.
type referring struct{ bundleio.Manifests }

func (r referring) Refer(ctx context.Context, manifest []byte) (string, error) {
	digest, err := r.Blobs.Put(ctx, manifest)
	return fmt.Sprintf(`{"kind":"ContentReference","digest":%q,"size":%d}`, digest, len(manifest)), err
}

// lostWorld has a plan for a bundle that only its catalog holds, whose steps are known and whose manifests are lost.
func lostWorld(t *testing.T) *world {
	t.Helper()
	contents := blobs{}
	w := newWorld(t, handMade("Manual", "lone.v1.0.0"), catalogSource("ns", "cat", 0))
	w.controller.Manifests = referring{bundleio.Manifests{Blobs: contents}}
	w.controller.Bundles = Images{Unpacker: bundleio.NewUnpacker(nil, clock.RealClock{}, func() {}), Reader: w, Catalogs: w.controller.Catalogs, GlobalNamespace: "olm"}
	w.shop(t, "ns", "cat", lone)
	p := w.settle(t, time.Minute)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval || len(contents) == 0 {
		t.Fatalf("%s: %s; %d manifests are kept", p.Status.Phase, p.Status.Message, len(contents))
	}
	clear(contents)
	p.Spec.Approved = true
	must.NoError(t, w.Inner.Update(t.Context(), p))
	return w
}

// TestManifestsOfACatalogAreHadAgain has manifests lost that were in a catalog and nowhere else: they are read there again, as soon as
// it is served, and only if they are those that were approved.
func TestManifestsOfACatalogAreHadAgain(t *testing.T) {
	ref := catalog.Ref{Namespace: "ns", Name: "cat"}
	other := lone
	other.owns = "Other"
	tests := map[string]struct {
		away    func(t *testing.T, w *world)
		message string
	}{
		"it is served": {func(*testing.T, *world) {}, ""},
		"it is away":   {func(_ *testing.T, w *world) { w.controller.Catalogs.Withdraw(ref) }, "waiting: bundle lone.v1.0.0 has to be read again, because the content store has lost its manifests: catalog ns/cat, which it is in, is still being loaded"},
		"it fails": {func(_ *testing.T, w *world) {
			w.controller.Catalogs.Publish(ref, catalogstore.Entry{Problem: "registry answers 503"})
		}, "catalog ns/cat, which it is in, has no content: registry answers 503"},
		"it is deleted": {func(t *testing.T, w *world) {
			w.controller.Catalogs.Withdraw(ref)
			w.remove(t, catalogSource("ns", "cat", 0))
		}, "CatalogSource ns/cat, which it is in, does not exist: create it again, or delete the InstallPlan to have one made that is still wanted"},
		"it has others":  {func(t *testing.T, w *world) { w.shop(t, "ns", "cat", base1) }, "catalog ns/cat does not have it any more: delete the InstallPlan to have one made that is still wanted"},
		"it was changed": {func(t *testing.T, w *world) { w.shop(t, "ns", "cat", base1, other) }, "catalog ns/cat has another one of that name by now, which is not what the InstallPlan was made for: delete the InstallPlan"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := lostWorld(t)
			tc.away(t, w)
			p := w.settle(t, 20*time.Minute)
			if tc.message != "" {
				if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !strings.Contains(p.Status.Message, tc.message) {
					t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
				}
				if c := p.Status.BundleLookups[0].GetCondition(v1alpha1.BundleLookupPending); c.Message == "" {
					t.Errorf("the lookup does not say it: %+v", p.Status.BundleLookups[0])
				}
				must.Equal(t, "a change of the catalog wakes", len(w.watcher().plans(t.Context(), "", concernsCatalogs)), 1)
				checkStatus(t, p)
				w.shop(t, "ns", "cat", lone)
				if !w.get(t, catalogSource("", "", 0), "ns", "cat") {
					must.NoError(t, w.Create(t.Context(), catalogSource("ns", "cat", 0)))
				}
				p = w.settle(t, time.Minute)
			}
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
			must.Empty(t, p.Status.Message, p.Status.BundleLookups[0].Conditions)
			if !w.get(t, csv("", "", ""), "ns", "lone.v1.0.0") {
				t.Error("it is not installed")
			}
		})
	}
}
