package crd

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func deadConversion() *apiextensionsv1.CustomResourceConversion {
	url := "https://127.0.0.1:1/convert"
	return &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url}}}
}

// later is a time at which every API server knows of the CRD.
func later() time.Time { return time.Now().Add(time.Minute) }

// turnedOff makes objects that are stored as v1alpha1, and turns that version off.
func turnedOff(w *world, objects int) *definition {
	w.install(w.crd(versionYAML("v1alpha1 served stored", anySize), versionYAML("v1 served", anySize)))
	w.fill("v1alpha1", 0, objects, w.wide(int64(1)))
	live := w.install(w.crd(versionYAML("v1alpha1 - -", anySize), versionYAML("v1 served stored", anySize)))
	if !slices.Equal(live.Status.StoredVersions, []string{"v1alpha1", "v1"}) {
		w.t.Fatalf("stored versions %v", live.Status.StoredVersions)
	}
	return live
}

// migrated takes the version away and reads everything: what is still stored in it could not be read.
func (w *world) migrated(objects int) {
	w.t.Helper()
	live := w.live()
	if !slices.Equal(live.Status.StoredVersions, []string{"v1"}) || live.Annotations[PositionAnnotation] != "" {
		w.t.Fatalf("stored versions %v, position %q", live.Status.StoredVersions, live.Annotations[PositionAnnotation])
	}
	w.install(w.crd(versionYAML("v1 served stored", anySize)))
	must.Equal(w.t, "objects can be read", len(w.versionsOf("v1")), objects)
}

func TestMigration(t *testing.T) {
	w := newWorld(t)
	live := turnedOff(w, 1200)
	before := w.versionsOf("v1")
	m := Migration{Client: w, Reader: w, Live: live, Leaving: []string{"v1alpha1"}, Now: time.Now()}
	if p, err := m.Advance(t.Context(), 9); err != nil || p.Done || p.Rewritten > 0 {
		t.Fatalf("at once: %+v, %v", p, err)
	}
	var seen []Progress
	for {
		m.Live, m.Now = w.live(), later()
		p := must.Value(m.Advance(t.Context(), 1))(t)
		seen = append(seen, p)
		if p.Done {
			break
		}
	}
	want := []Progress{{500, 700, false}, {1000, 200, false}, {1200, 0, true}}
	must.Equal(t, "progress", seen, want)
	after := w.versionsOf("v1")
	for name, version := range after {
		if version == before[name] {
			t.Fatalf("%s was not written", name)
		}
	}
	// What is stored as it should be is not written again.
	crd := w.live()
	crd.Status.StoredVersions = []string{"v1alpha1", "v1"}
	must.NoError(t, w.Status().Update(t.Context(), crd))
	m.Live = crd
	if p, err := m.Advance(t.Context(), 9); err != nil || !p.Done {
		t.Fatalf("%+v, %v", p, err)
	}
	must.Equal(t, "objects were written although nothing changes", after, w.versionsOf("v1"))
	w.migrated(1200)
}

var errKilled = errors.New("killed")

// killed lets some writes through and fails all others.
func (w *world) killed(after int64, writes *atomic.Int64) client.Client {
	fails := func() error {
		if writes.Add(1) > after {
			return errKilled
		}
		return nil
	}
	base, ok := w.Client.(client.WithWatch)
	if !ok {
		var err error
		if base, err = client.NewWithWatch(devcluster.Config(), client.Options{Scheme: w.Scheme()}); err != nil {
			w.t.Fatal(err)
		}
	}
	return interceptor.NewClient(base, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := fails(); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			if err := fails(); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

// TestMigrationGoesOnAfterAKill kills it in the middle of the second page. The next one begins with that page.
func TestMigrationGoesOnAfterAKill(t *testing.T) {
	w := newWorld(t)
	turnedOff(w, 1200)
	var writes atomic.Int64
	dying := w.killed(700, &writes)
	for range 2 {
		m := Migration{Client: dying, Reader: w, Live: w.live(), Leaving: []string{"v1alpha1"}, Now: later()}
		if p, err := m.Advance(t.Context(), 1); p.Done || (err != nil) != (writes.Load() > 700) {
			t.Fatalf("%+v, %v after %d writes", p, err, writes.Load())
		}
	}
	live := w.live()
	if live.Annotations[PositionAnnotation] == "" || !slices.Contains(live.Status.StoredVersions, "v1alpha1") {
		t.Fatalf("position %q, stored versions %v", live.Annotations[PositionAnnotation], live.Status.StoredVersions)
	}
	writes.Store(0)
	m := Migration{Client: w.killed(1e6, &writes), Reader: w, Live: live, Leaving: []string{"v1alpha1"}, Now: later()}
	p, err := m.Advance(t.Context(), 9)
	if err != nil || !p.Done || p.Rewritten != 1200 {
		t.Fatalf("%+v, %v", p, err)
	}
	if n := writes.Load(); n < 700 || n > 710 { // the rest of the objects, the status and the position
		t.Errorf("%d writes: it did not go on where it was", n)
	}
	w.migrated(1200)
}

// TestMigrationKilledAtTheEnd kills it at each of the last writes.
func TestMigrationKilledAtTheEnd(t *testing.T) {
	w := newWorld(t)
	turnedOff(w, 3)
	for after := range int64(6) {
		var writes atomic.Int64
		m := Migration{Client: w.killed(after, &writes), Reader: w, Live: w.live(), Leaving: []string{"v1alpha1"}, Now: later()}
		if p, err := m.Advance(t.Context(), 9); p.Done && after < 4 || err == nil && !p.Done {
			t.Fatalf("after %d writes: %+v, %v", after, p, err)
		}
	}
	w.migrated(3)
}

// TestMigrationOfAChangedCRD changes the CRD while its objects are rewritten.
func TestMigrationOfAChangedCRD(t *testing.T) {
	w := newWorld(t)
	live := turnedOff(w, 3)
	w.install(w.crd(versionYAML("v1alpha1 served stored", anySize), versionYAML("v1 served", anySize)))
	m := Migration{Client: w, Reader: w, Live: live, Leaving: []string{"v1alpha1"}, Now: later()}
	if _, err := m.Advance(t.Context(), 9); !errors.Is(err, errChanged) {
		t.Errorf("%v: v1alpha1 is stored again, so it must stay listed", err)
	}
	if got := w.live().Status.StoredVersions; !slices.Contains(got, "v1alpha1") {
		t.Errorf("stored versions %v", got)
	}
}
