package catalogsource

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

func TestServesAnImage(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	result, s := w.reconcile()
	if s.Status.GRPCConnectionState.LastObservedState != "READY" || readyReason(s) != "True Serving" || s.Status.Reason != "" {
		t.Errorf("status %+v", s.Status)
	}
	must.Equal(t, "without an interval it is looked at again", result.RequeueAfter, 0)
	e, ok := w.c.catalogs.Get(catalog.Ref{Namespace: "olm", Name: "cat"})
	if !ok || e.Index == nil || e.Index.Digest() != "sha256:one" {
		t.Errorf("published %+v", e)
	}
	must.NoError(t, w.client.Delete(t.Context(), s))
	w.reconcile()
	if _, ok := w.c.catalogs.Get(catalog.Ref{Namespace: "olm", Name: "cat"}); ok {
		t.Error("a deleted catalog is still published")
	}
}

func TestPolling(t *testing.T) {
	w := newWorld(t, source(grpc(10*time.Minute)))
	result, s := w.reconcile()
	if result.RequeueAfter < 10*time.Minute || result.RequeueAfter > 11*time.Minute {
		t.Errorf("looked at again after %s, want 10 minutes and up to a tenth more", result.RequeueAfter)
	}
	first := s.Status.LatestImageRegistryPoll
	w.Taken()
	w.Clock.Step(time.Minute)
	if w.reconcile(); w.registry.heads.Load() > 0 || len(w.Writes()) > 0 {
		t.Errorf("an event between two polls led to %d requests and the writes %v", w.registry.heads.Load(), w.Writes())
	}
	w.Clock.Step(11 * time.Minute)
	_, s = w.reconcile()
	must.Equal(t, "a poll of unchanged content took", w.registry.heads.Load(), 1)
	must.Equal(t, "a poll of unchanged content took", w.registry.loads.Load(), 1)
	want := s.DeepCopy()
	want.Status.LatestImageRegistryPoll = first
	if !s.Status.LatestImageRegistryPoll.After(first.Time) || w.Count(reported) != 1 {
		t.Errorf("a poll of unchanged content: poll time %v, writes %v", s.Status.LatestImageRegistryPoll, w.Writes())
	}
	w.registry.content = "two"
	w.Clock.Step(11 * time.Minute)
	w.reconcile()
	if e, _ := w.c.catalogs.Get(catalog.Ref{Namespace: "olm", Name: "cat"}); e.Index.Digest() != "sha256:two" {
		t.Errorf("newer content is not served, but %s", e.Index.Digest())
	}
}

func TestLastGoodContentStays(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)))
	w.reconcile()
	w.registry.err = errors.New("registry.example.com: connection refused")
	w.Clock.Step(2 * time.Minute)
	result, s := w.reconcile()
	must.Equal(t, "last observed state", s.Status.GRPCConnectionState.LastObservedState, "READY")
	must.Equal(t, "ready reason", readyReason(s), "True ServingLastGoodContent")
	must.Equal(t, "the registry's words are missing", s.Status.Reason, v1alpha1.CatalogSourceRegistryServerError)
	must.Contain(t, "the registry's words are missing", s.Status.Message, "connection refused")
	if result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Second {
		t.Errorf("tried again after %s", result.RequeueAfter)
	}
	e, _ := w.c.catalogs.Get(catalog.Ref{Namespace: "olm", Name: "cat"})
	if e.Index == nil || e.Problem == "" {
		t.Errorf("published %+v", e)
	}
	w.registry.err = nil
	w.Clock.Step(time.Minute)
	if _, s = w.reconcile(); readyReason(s) != "True Serving" || s.Status.Message != "" {
		t.Errorf("once the registry is back: %+v", s.Status)
	}
}

func TestNeverHadContent(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	w.registry.err = errors.New("unauthorized")
	pauses := []time.Duration{}
	for range 11 {
		result, s := w.reconcile()
		if s.Status.GRPCConnectionState.LastObservedState != "TRANSIENT_FAILURE" || readyReason(s) != "False RegistryServerError" {
			t.Fatalf("status %+v", s.Status)
		}
		pauses = append(pauses, result.RequeueAfter)
		w.Clock.Step(result.RequeueAfter)
	}
	must.Equal(t, "the pauses between attempts", pauses[0], catalogstore.FirstRetry)
	must.Equal(t, "the pauses between attempts", pauses[10], catalogstore.LongestRetry)
}

func TestInvalidSpecs(t *testing.T) {
	tests := map[string]struct {
		spec v1alpha1.CatalogSourceSpec
		want string
	}{
		"grpc without image":     {v1alpha1.CatalogSourceSpec{SourceType: "grpc"}, "image and address unset: at least one must be set for sourcetype: grpc"},
		"configmap without name": {v1alpha1.CatalogSourceSpec{SourceType: "configmap"}, "configmap name unset: must be set for sourcetype: configmap"},
		"internal without name":  {v1alpha1.CatalogSourceSpec{SourceType: "internal"}, "configmap name unset: must be set for sourcetype: internal"},
		"a type that nobody has": {v1alpha1.CatalogSourceSpec{SourceType: "ftp"}, "unknown sourcetype: ftp"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(test.spec))
			result, s := w.reconcile()
			if s.Status.Reason != v1alpha1.CatalogSourceSpecInvalidError || !strings.HasPrefix(s.Status.Message, test.want) || readyReason(s) != "False SpecInvalidError" {
				t.Errorf("status %+v, want %q", s.Status, test.want)
			}
			must.Equal(t, "an invalid spec led", result.RequeueAfter, 0)
			must.Equal(t, "an invalid spec led", w.registry.loads.Load(), 0)
			s.Spec, s.Generation = grpc(0), 2
			must.NoError(t, w.client.Update(t.Context(), s))
			if _, s = w.reconcile(); readyReason(s) != "True Serving" || s.Status.Message != "" {
				t.Errorf("once corrected: %+v", s.Status)
			}
		})
	}
}

func TestAnInvalidSpecEndsServing(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	_, s := w.reconcile()
	s.Spec, s.Generation = v1alpha1.CatalogSourceSpec{SourceType: "ftp"}, 2
	must.NoError(t, w.client.Update(t.Context(), s))
	_, s = w.reconcile()
	e, _ := w.c.catalogs.Get(catalog.Ref{Namespace: "olm", Name: "cat"})
	if e.Index != nil || s.Status.GRPCConnectionState != nil || readyReason(s) != "False SpecInvalidError" {
		t.Errorf("served %v, status %+v", e.Index != nil, s.Status)
	}
}

// TestBadInterval: the message has the published text alone, and the Ready condition says what to write instead.
func TestBadInterval(t *testing.T) {
	s := source(grpc(0))
	s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{}}
	must.NoError(t, json.Unmarshal([]byte(`{"interval": "often"}`), s.Spec.UpdateStrategy.RegistryPoll))
	w := newWorld(t, s)
	_, s = w.reconcile()
	const published = `error parsing spec.updateStrategy.registryPoll.interval. Using the default value of 15m0s instead. Error: time: invalid duration "often"`
	must.Equal(t, s.Status.Message, s.Status.Reason, v1alpha1.CatalogSourceIntervalInvalidError)
	must.Equal(t, "message", s.Status.Message, published)
	ready := meta.FindStatusCondition(s.Status.Conditions, reconcile.TypeReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || !strings.Contains(ready.Message, "write a duration such as 10m or 1h") {
		t.Errorf("Ready is %+v, want it to say what to write instead", ready)
	}
}

func TestPullSecrets(t *testing.T) {
	spec := grpc(0)
	spec.Secrets = []string{"pull"}
	w := newWorld(t, source(spec))
	for range 12 {
		result, s := w.reconcile()
		if !strings.Contains(s.Status.Message, "use spec.secrets: read pull secret olm/pull") || result.RequeueAfter > catalogstore.LongestLocalRetry {
			t.Errorf("a missing pull secret: %q, again in %s", s.Status.Message, result.RequeueAfter)
		}
		w.Clock.Step(result.RequeueAfter)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	must.NoError(t, w.client.Create(t.Context(), secret))
	w.Clock.Step(time.Minute)
	if _, s := w.reconcile(); readyReason(s) != "True Serving" || len(w.registry.auth.DockerConfig) != 1 {
		t.Errorf("with the pull secret: %+v, auth %v", s.Status, w.registry.auth)
	}
}

func TestACatalogThatIsGoneIsNotReportedOn(t *testing.T) {
	w := newWorld(t)
	if err := w.c.report(t.Context(), source(grpc(0)), report{known: content{looked: w.Clock.Now()}}); err != nil {
		t.Errorf("writing the status of an object that was deleted meanwhile: %v", err)
	}
}
