package catalogsource

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

// TestAnotherImageIsNotServedBeforeItIs: while the image that is asked for now is being loaded, and when it cannot be had, no one may take
// the old content for it.
func TestAnotherImageIsNotServedBeforeItIs(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)))
	w.reconcile()
	w.c.grace = time.Millisecond
	finished := make(chan struct{}, 10)
	w.c.loads.finished = func(catalog.Ref) { finished <- struct{}{} }
	w.registry.slow = make(chan struct{})
	w.registry.content = "two"
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = "registry.example.com/other:v2" })
	_, s := w.reconcile()
	ready := meta.FindStatusCondition(s.Status.Conditions, reconcile.TypeReady)
	want := "the content of image registry.example.com/cat:latest, loaded at 2023-11-14T22:13:20Z, is still served while that of image registry.example.com/other:v2 is being loaded"
	if ready.Status != metav1.ConditionUnknown || ready.Reason != reasonLoading || ready.Message != want || ready.ObservedGeneration != s.Generation {
		t.Errorf("Ready %+v", ready)
	}
	if got := s.Status.GRPCConnectionState.LastObservedState; got != "CONNECTING" {
		t.Errorf("lastObservedState %s", got)
	}
	must.Equal(t, "what was served is not served any more", len(w.packages()), 1)
	for w.registry.loads.Load() < 2 { // it has asked for the digest, and waits
		time.Sleep(time.Millisecond)
	}
	w.registry.err = errors.New("no such tag")
	close(w.registry.slow)
	<-finished
	_, s = w.reconcile()
	ready = meta.FindStatusCondition(s.Status.Conditions, reconcile.TypeReady)
	if ready.Status != metav1.ConditionFalse || ready.Reason != "RegistryServerError" || !strings.Contains(ready.Message, "because that of image registry.example.com/other:v2 cannot be had: no such tag") {
		t.Errorf("Ready %+v", ready)
	}
	if got := s.Status.GRPCConnectionState.LastObservedState; got != "TRANSIENT_FAILURE" || len(w.packages()) != 1 {
		t.Errorf("lastObservedState %s, packages %v", got, w.packages())
	}
	w.registry.err = nil
	w.c.grace = 10 * time.Second
	w.Clock.Step(time.Minute)
	if _, s = w.reconcile(); readyReason(s) != "True Serving" || s.Status.GRPCConnectionState.LastObservedState != "READY" || s.Status.Message != "" {
		t.Errorf("once it is loaded: %+v", s.Status)
	}
}

// TestAnotherImageWithTheSameContent is read no second time, and is what is asked for.
func TestAnotherImageWithTheSameContent(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	w.reconcile()
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = "mirror.example.com/cat:latest" })
	if _, s := w.reconcile(); readyReason(s) != "True Serving" || w.registry.loads.Load() != 1 {
		t.Errorf("status %+v after %d loads", s.Status, w.registry.loads.Load())
	}
}

// TestAnObjectThatIsMadeAgainIsAnother: it is reconciled again, whatever was known of the other one.
func TestAnObjectThatIsMadeAgainIsAnother(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	_, s := w.reconcile()
	must.NoError(t, w.client.Delete(t.Context(), s))
	again := source(grpc(0))
	again.UID = "uid of the other"
	w.create(again)
	if _, s = w.reconcile(); w.registry.loads.Load() != 2 || readyReason(s) != "True Serving" || w.c.memory.known[ref].uid != again.UID {
		t.Errorf("it is read %d times, status %+v", w.registry.loads.Load(), s.Status)
	}
}

// TestWhatADeletedObjectServedIsNotServedForItsNamesake, however quickly that was made: the content may be that of another image, of another
// owner. The same object continues to serve it.
func TestWhatADeletedObjectServedIsNotServedForItsNamesake(t *testing.T) {
	for name, image := range map[string]string{"the same image": grpc(0).Image, "another image": "registry.example.com/other:latest"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(grpc(0)))
			set := w.serve()
			w.c.records = records{dir: t.TempDir(), indexes: w.indexes}
			w.reconcile()
			w.registry.err = errors.New("the registry is down")
			w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = image })
			w.reconcile()
			if _, served := set.Catalog("cat.olm"); len(w.packages()) == 0 || !served {
				t.Fatal("the same object does not go on serving what it did")
			}
			must.NoError(t, w.client.Delete(t.Context(), w.source()))
			for _, owned := range []client.Object{&corev1.Service{}, &discoveryv1.EndpointSlice{}} {
				must.NoError(t, w.client.DeleteAllOf(t.Context(), owned, client.InNamespace(ref.Namespace)))
			}
			spec := grpc(0)
			spec.Image = image
			again := source(spec)
			again.UID = "uid of the other"
			w.create(again)
			_, s := w.reconcile()
			if _, served := set.Catalog("cat.olm"); len(w.packages()) > 0 || served || readyReason(s) != "False RegistryServerError" {
				t.Errorf("%v is used, served to clients: %t, status %+v", w.packages(), served, s.Status)
			}
			w.registry.err = nil
			w.Clock.Step(time.Minute)
			if _, s = w.reconcile(); len(w.packages()) == 0 || readyReason(s) != "True Serving" {
				t.Errorf("once it is read: %+v", s.Status)
			}
		})
	}
}

// TestChangedSecretsAreTriedAtOnce, and not after a pause that has grown to minutes.
func TestChangedSecretsAreTriedAtOnce(t *testing.T) {
	spec := grpc(0)
	spec.Secrets = []string{"pull", "pull"}
	w := newWorld(t, source(spec), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}})
	f := w.followSecrets()
	w.registry.err = errors.New("unauthorized")
	for range 12 {
		result, _ := w.reconcile()
		w.Clock.Step(result.RequeueAfter)
	}
	w.reconcile()
	w.registry.err = nil
	if _, s := w.reconcile(); readyReason(s) == "True Serving" {
		t.Fatal("it is tried again without a reason")
	}
	f.happen("olm/pull")
	must.Equal(t, "the catalog was brought into the queue", f.told, 1)
	if _, s := w.reconcile(); readyReason(s) != "True Serving" {
		t.Errorf("with other credentials: %+v", s.Status)
	}
	heads := w.registry.heads.Load()
	if w.reconcile(); w.registry.heads.Load() != heads {
		t.Error("one change leads to several looks")
	}
	// Who names no Secret any more follows none, and neither does who is gone.
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Secrets = nil })
	w.reconcile()
	f.happen("olm/pull")
	must.Equal(t, "a Secret that is not named any more is followed", f.told, 1)
}

func TestSecretsOfACatalogThatIsGoneAreNotFollowed(t *testing.T) {
	spec := grpc(0)
	spec.Secrets = []string{"pull"}
	w := newWorld(t, source(spec))
	f := w.followSecrets()
	_, s := w.reconcile()
	must.NoError(t, w.client.Delete(t.Context(), s))
	w.reconcile()
	if f.happen("olm/pull"); f.told != 0 || len(w.c.secrets.followed) != 0 {
		t.Error("it is followed")
	}
}

// TestTheIntervalGoesOnAfterARestart, as far as all was well.
func TestTheIntervalGoesOnAfterARestart(t *testing.T) {
	b := newBroken(t)
	w := real(t, b)
	w.update(func(s *v1alpha1.CatalogSource) { *s.Spec.UpdateStrategy = *grpc(time.Hour).UpdateStrategy })
	w.c.records = records{dir: t.TempDir(), indexes: w.indexes}
	images := w.c.images
	restart := func() { w.restarted(); w.c.images = images; b.set(nil) }
	w.reconcile()
	w.Clock.Step(40 * time.Minute)
	restart()
	result, s := w.reconcile()
	if got := b.requests(); len(got) != 0 || readyReason(s) != "True Serving" || result.RequeueAfter < 20*time.Minute || result.RequeueAfter > 26*time.Minute {
		t.Errorf("after a restart in the middle: requests %v, again in %s, status %+v", got, result.RequeueAfter, s.Status)
	}
	w.Clock.Step(result.RequeueAfter)
	restart()
	if _, s = w.reconcile(); len(b.requests()) != 2 || w.Clock.Since(s.Status.LatestImageRegistryPoll.Time) > time.Second {
		t.Errorf("when it is due: requests %v, polled at %s", b.requests(), s.Status.LatestImageRegistryPoll)
	}
	// What could not be had is asked for at once.
	b.set(answers(500, "", ""))
	w.Clock.Step(2 * time.Hour)
	w.reconcile()
	restart()
	if _, s = w.reconcile(); len(b.requests()) == 0 || readyReason(s) != "True Serving" {
		t.Errorf("after trouble: requests %v, status %+v", b.requests(), s.Status)
	}
}

// TestAPollIsToldOfWhenTheRegistryWasAsked, and not when something else went wrong before.
func TestAPollIsToldOfWhenTheRegistryWasAsked(t *testing.T) {
	spec := grpc(time.Minute)
	spec.Secrets = []string{"missing"}
	w := newWorld(t, source(spec))
	if _, s := w.reconcile(); s.Status.LatestImageRegistryPoll != nil {
		t.Errorf("polled at %s without credentials", s.Status.LatestImageRegistryPoll)
	}
	w.update(func(s *v1alpha1.CatalogSource) {
		s.Spec.Secrets, s.Spec.Image = nil, "registry.example.com/cat@"+digestOne
	})
	w.reconcile()
	w.registry.content = strings.TrimPrefix(digestOne, "sha256:") // the reference says what it stands for
	w.Clock.Step(2 * time.Minute)
	_, s := w.reconcile()
	first := s.Status.LatestImageRegistryPoll
	w.Taken()
	w.Clock.Step(2 * time.Minute)
	if _, s = w.reconcile(); !s.Status.LatestImageRegistryPoll.Equal(first) || len(w.Writes()) > 0 {
		t.Errorf("a reference with a digest is told to be polled at %s, then %s", first, s.Status.LatestImageRegistryPoll)
	}
}

func TestIntervalsThatAreTooShort(t *testing.T) {
	for name, test := range map[string]struct {
		interval time.Duration
		used     time.Duration
		want     string
	}{
		"a millisecond": {time.Millisecond, catalogstore.MinimumPause, "registryPoll.interval is 1ms; 1s is used instead: write 1s or more"},
		"none":          {0, v1alpha1.DefaultRegistryPollDuration, "registryPoll.interval is 0s; 15m0s is used instead"},
		"negative":      {-time.Hour, v1alpha1.DefaultRegistryPollDuration, "registryPoll.interval is -1h0m0s; 15m0s is used instead"},
		"long enough":   {time.Second, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := source(grpc(0))
			s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: test.interval}}}
			if got, polls := pollInterval(s); got != test.used || !polls {
				t.Errorf("polled every %s", got)
			}
			w := newWorld(t, s)
			_, s = w.reconcile()
			if !strings.Contains(s.Status.Message, test.want) || (s.Status.Reason == v1alpha1.CatalogSourceIntervalInvalidError) != (test.want != "") || readyReason(s) != "True Serving" {
				t.Errorf("status %+v, want %q", s.Status, test.want)
			}
		})
	}
}

// secretsOfTest stands for the API server, which tells of changes of Secrets.
type secretsOfTest struct {
	changed map[string][]func()
	told    int
}

func (w *world) followSecrets() *secretsOfTest {
	f := &secretsOfTest{changed: map[string][]func(){}}
	w.c.secrets = &secrets{changed: func(catalog.Ref) { f.told++ }, watch: f.watch}
	return f
}

func (f *secretsOfTest) watch(ctx context.Context, namespace, name string, changed func()) {
	key := namespace + "/" + name
	f.changed[key] = append(f.changed[key], func() {
		if ctx.Err() == nil {
			changed()
		}
	})
}

// happen tells of a change.
func (f *secretsOfTest) happen(key string) {
	for _, changed := range f.changed[key] {
		changed()
	}
}
