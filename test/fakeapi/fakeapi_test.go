package fakeapi

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/test/must"
)

var at = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// TestWritesAreNoted in one form, whoever makes them and however, but those of others are not.
func TestWritesAreNoted(t *testing.T) {
	s := New(at, fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).WithReturnManagedFields())
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	must.NoError(t, s.Create(t.Context(), pod))
	if pod.UID == "" || !pod.CreationTimestamp.Time.Equal(at) {
		t.Errorf("the pod has UID %q, of %s", pod.UID, pod.CreationTimestamp)
	}
	must.NoError(t, s.Status().Patch(t.Context(), pod, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"message":"m"}}`))))
	must.NoError(t, s.Apply(t.Context(), corev1apply.ConfigMap("a", "ns"), client.FieldOwner("me"), client.ForceOwnership))
	must.NoError(t, s.As("ns/installer").Create(t.Context(), configMap("b"), client.DryRunAll))
	must.NoError(t, s.Apply(t.Context(), corev1apply.ConfigMap("b", "ns"), client.FieldOwner("me"), client.DryRunAll))
	must.NoError(t, s.As("ns/installer").Create(t.Context(), configMap("b"))) // neither dry run has made it
	must.NoError(t, s.Inner.Create(t.Context(), configMap("theirs")))
	must.NoError(t, s.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("ns")))
	if creations := s.Count("create "); creations != 2 {
		t.Errorf("%d writes are creations", creations)
	}
	must.Equal(t, "writes", s.Taken(), []string{"create Pod p", "patch status Pod p", "apply ConfigMap a", "try ConfigMap b as ns/installer", "try ConfigMap b", "create ConfigMap b as ns/installer", "deletecollection ConfigMap "})
	if s.Made() != 7 || len(s.Writes()) != 0 {
		t.Errorf("%d writes were made, and %v are left", s.Made(), s.Writes())
	}
}

// TestFaults before a write leave things as they were; those after it do not.
func TestFaults(t *testing.T) {
	for _, after := range []bool{false, true} {
		s := New(at, fake.NewClientBuilder())
		s.KillAt(2, after)
		must.NoError(t, s.Create(t.Context(), configMap("a")))
		if s.Killed() {
			t.Error("killed too early")
		}
		if err := s.Create(t.Context(), configMap("b")); !errors.Is(err, ErrKilled) || !s.Killed() {
			t.Errorf("the second write: %v", err)
		}
		must.NoError(t, s.Create(t.Context(), configMap("c")))
		if err := s.Inner.Get(t.Context(), client.ObjectKeyFromObject(configMap("b")), &corev1.ConfigMap{}); (err == nil) != after {
			t.Errorf("killed after the write %v: %v", after, err)
		}
	}
	s := New(at, fake.NewClientBuilder())
	var asked []bool
	s.Fault(func(write string, after bool) error {
		asked = append(asked, after)
		if after {
			return errors.New(write)
		}
		return nil
	})
	must.Fail(t, "a write of which the answer is lost", s.Create(t.Context(), configMap("a")), "create ConfigMap a")
	must.Equal(t, "asked before and after", asked, []bool{false, true})
	s.Fault(nil)
	must.NoError(t, s.Create(t.Context(), configMap("b")))
}

// TestReads can fail, or lag behind.
func TestReads(t *testing.T) {
	s := New(at, fake.NewClientBuilder().WithObjects(configMap("a")))
	stale := configMap("a")
	stale.Data = map[string]string{"is": "old"}
	s.Stale = stale
	read := &corev1.ConfigMap{}
	must.NoError(t, s.Get(t.Context(), client.ObjectKeyFromObject(stale), read))
	must.Equal(t, "what the cache has", read.Data, stale.Data)
	s.Read = func(_ client.Object, name string) error { return errors.New("no " + name) }
	must.Fail(t, "a read", s.Get(t.Context(), client.ObjectKeyFromObject(stale), read), "no a")
	lists := Lists{s, func(_ client.ObjectList, namespace string) error {
		if namespace == "ns" {
			return nil
		}
		return errors.New("not " + namespace)
	}}
	list := &corev1.ConfigMapList{}
	must.NoError(t, lists.List(t.Context(), list, client.InNamespace("ns")))
	must.Equal(t, "count of ConfigMaps", len(list.Items), 1)
	must.Fail(t, "a list", lists.List(t.Context(), list, client.InNamespace("b")), "not b")
}

// TestAccountsAreAuthorized as by RBAC, and the manager is not.
func TestAccountsAreAuthorized(t *testing.T) {
	s := New(at, fake.NewClientBuilder())
	s.Authorize = func(account, verb, kind, name string) error {
		return errors.New(account + " " + verb + " " + kind + " " + name)
	}
	must.NoError(t, s.Create(t.Context(), configMap("a")))
	must.Fail(t, "a write", s.As("ns/installer").Create(t.Context(), configMap("b"), client.DryRunAll), "ns/installer create ConfigMap b")
	must.Fail(t, "a read", s.As("ns/installer").Get(t.Context(), client.ObjectKeyFromObject(configMap("a")), configMap("a")), "ns/installer get ConfigMap a")
	must.Equal(t, "writes", s.Taken(), []string{"create ConfigMap a"})
}

// TestListsAreAnswered by the test where it wants to, and by the server otherwise.
func TestListsAreAnswered(t *testing.T) {
	s := New(at, fake.NewClientBuilder().WithObjects(configMap("a")))
	for _, lags := range []bool{true, false} {
		s.Answer = func(client.ObjectList) bool { return lags }
		list := &corev1.ConfigMapList{}
		must.NoError(t, s.List(t.Context(), list))
		must.Equal(t, "nothing is listed", len(list.Items) == 0, lags)
	}
}

// TestAnotherObjectOfTheNameStays: a precondition of a deletion holds, as on a real API server.
func TestAnotherObjectOfTheNameStays(t *testing.T) {
	s := New(at, fake.NewClientBuilder())
	must.NoError(t, s.Create(t.Context(), configMap("a")))
	other := configMap("a")
	other.UID = "other"
	if err := s.Delete(t.Context(), other, client.Preconditions{UID: &other.UID}); !apierrors.IsConflict(err) {
		t.Errorf("deleted another object: %v", err)
	}
}

// TestSettle counts passes until one writes nothing.
func TestSettle(t *testing.T) {
	s := New(at, fake.NewClientBuilder())
	names := []string{"a", "b"}
	must.Equal(t, "writes", s.Settle(t, func() error {
		if len(names) == 0 {
			return nil
		}
		name := names[0]
		names = names[1:]
		return s.Create(t.Context(), configMap(name))
	}), []string{"create ConfigMap a", "create ConfigMap b"})
}
