package trigger

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestOnSecret: what is there at the start is no change, a repeated event of the same version neither; the Secret is asked for by its name.
func TestOnSecret(t *testing.T) {
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	secret := func(version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pull", ResourceVersion: version}}
	}
	server, events, asked := metadatafake.NewSimpleMetadataClient(scheme, secret("1")), watch.NewFake(), make(chan string, 10)
	server.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
		asked <- action.GetNamespace() + " " + action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String()
		return true, events, nil
	})
	changes := make(chan struct{}, 10)
	OnSecret(t.Context(), server, "ns", "pull", func() { changes <- struct{}{} })
	if got := within(t, asked); got != "ns metadata.name=pull" {
		t.Errorf("it asks for %q", got)
	}
	for _, tell := range []func(){func() { events.Modify(secret("2")) }, func() { events.Delete(secret("2")) }, func() { events.Add(secret("3")) }} {
		tell()
		within(t, changes)
	}
	events.Modify(secret("3")) // the same again
	events.Modify(secret("4"))
	within(t, changes)
	select {
	case <-changes:
		t.Error("what has not changed is a change")
	default:
	}
}

// within waits for a value, generously.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing happens for a minute")
		panic("unreachable")
	}
}
