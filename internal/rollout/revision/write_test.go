package revision

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

// server is a fake API server with revisions.
type server struct {
	*fakeapi.Server
	t *testing.T
}

func newServer(t *testing.T) *server {
	return &server{fakeapi.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), fake.NewClientBuilder().WithScheme(testScheme)), t}
}

// state is the revisions with their Secrets and the owners of these.
func (s *server) state() []string {
	s.t.Helper()
	var out []string
	var sets olmv1.ClusterObjectSetList
	var secrets corev1.SecretList
	must.NoError(s.t, errors.Join(s.List(s.t.Context(), &sets), s.List(s.t.Context(), &secrets)))
	for _, set := range sets.Items {
		out = append(out, fmt.Sprintf("%s %s", set.Name, set.Annotations[DigestKey]))
	}
	for _, secret := range secrets.Items {
		line := secret.Name
		for _, o := range secret.OwnerReferences {
			line += " of " + o.Name
		}
		out = append(out, line)
	}
	return out
}

// own is what the controller of revisions does when it first sees one.
func (s *server) own(names ...string) error {
	for _, name := range names {
		set := &olmv1.ClusterObjectSet{}
		if err := s.Get(s.t.Context(), client.ObjectKey{Name: name}, set); err != nil {
			return err
		}
		if err := Own(s.t.Context(), s, s, set, "olm"); err != nil {
			return err
		}
	}
	return nil
}

func twoSecrets(t *testing.T) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{sized(t, "a", incompressible(600<<10)), sized(t, "b", incompressible(500<<10))}
}

// TestKilledAtEveryWrite: a revision that was begun is finished, also when something else is wanted by then, and no Secret is left over.
func TestKilledAtEveryWrite(t *testing.T) {
	first, other := build(t, options(twoSecrets(t)...)), build(t, options(sized(t, "c", "other")))
	bring := func(s *server, r *Revision) error {
		if err := Write(t.Context(), s, r); err != nil {
			return err
		}
		return s.own(r.Set.Name)
	}
	for name, next := range map[string]*Revision{"the same": first, "another": other} {
		whole := newServer(t)
		must.NoError(t, bring(whole, next))
		want := whole.state()
		for _, after := range []bool{false, true} {
			for at, reached := 1, true; reached; at++ {
				s := newServer(t)
				s.KillAt(at, after)
				_ = bring(s, first)
				err := bring(s, next)
				reached = s.Killed()
				var exists *ExistsError
				if errors.As(err, &exists) && name == "another" {
					continue // the first was there before the manager was killed
				}
				must.NoErrorf(t, err, "%s, killed at %d", name, at)
				if diff := cmp.Diff(want, s.state()); diff != "" {
					t.Errorf("%s, killed at %d of %v: %s", name, at, s.Writes(), diff)
				}
			}
		}
	}
}

// TestWritingAgain: what is there is left alone; what may change is brought up to date.
func TestWritingAgain(t *testing.T) {
	s := newServer(t)
	o := options(of(t, "v1", "ConfigMap", "a"))
	o.ServiceAccount = "installer"
	must.NoError(t, errors.Join(Write(t.Context(), s, build(t, o)), s.own("ext-3")))
	s.Taken()
	must.NoErrorf(t, errors.Join(Write(t.Context(), s, build(t, o)), s.own("ext-3")), "Join")
	must.Empty(t, "join", s.Taken())
	o.ProgressDeadlineMinutes, o.ServiceAccount = 30, ""
	o.Annotations[olmv1.BundleReferenceKey] = "registry/bundle@sha256:1"
	must.NoError(t, Write(t.Context(), s, build(t, o)))
	set := &olmv1.ClusterObjectSet{}
	must.NoError(t, s.Get(t.Context(), client.ObjectKey{Name: "ext-3"}, set))
	if _, account := set.Annotations[ServiceAccountKey]; account || set.Spec.ProgressDeadlineMinutes != 30 || set.Annotations[olmv1.BundleReferenceKey] == "" {
		t.Errorf("%+v", set)
	}
	if err := Write(t.Context(), s, build(t, options(of(t, "v1", "ConfigMap", "b")))); !errors.As(err, new(*ExistsError)) {
		t.Errorf("other objects: %v", err)
	}
	set.Spec.LifecycleState = olmv1.LifecycleStateArchived
	must.NoError(t, s.Update(t.Context(), set))
	if err := Write(t.Context(), s, build(t, o)); !errors.As(err, new(*ExistsError)) || !strings.Contains(err.Error(), "is archived") {
		t.Errorf("archived: %v", err)
	}
}

// TestForeignSecret of the same name is not taken for ours.
func TestForeignSecret(t *testing.T) {
	s := newServer(t)
	r := build(t, options(of(t, "v1", "ConfigMap", "a")))
	foreign := r.Secrets[0].DeepCopy()
	foreign.Immutable = nil
	must.NoError(t, s.Create(t.Context(), foreign))
	if err := Write(t.Context(), s, r); err == nil || !strings.Contains(err.Error(), "delete that") {
		t.Error(err)
	}
}

// TestSecretOfAnEarlierExtension: an extension that was deleted and made anew under its name, with the same content, finds the Secret of the old
// one, whose owner is gone. It has to belong to the new one before the garbage collector comes.
func TestSecretOfAnEarlierExtension(t *testing.T) {
	s := newServer(t)
	old, now := options(of(t, "v1", "ConfigMap", "a")), options(of(t, "v1", "ConfigMap", "a"))
	old.Extension.UID, now.Extension.UID = "old", "now"
	r := build(t, old)
	must.NoError(t, errors.Join(Write(t.Context(), s, r), s.own(r.Set.Name)))
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "other"}
	secret := &corev1.Secret{}
	must.NoError(t, s.Get(t.Context(), client.ObjectKeyFromObject(r.Secrets[0]), secret))
	secret.OwnerReferences = append(secret.OwnerReferences, other)
	must.NoError(t, errors.Join(s.Update(t.Context(), secret), s.Delete(t.Context(), r.Set.DeepCopy())))
	r = build(t, now)
	must.NoError(t, Write(t.Context(), s, r))
	must.NoError(t, s.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	wanted := []metav1.OwnerReference{other, {APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: "ext", UID: "now"}}
	if diff := cmp.Diff(wanted, secret.OwnerReferences); diff != "" {
		t.Errorf("as it is written: %s", diff)
	}
	must.NoError(t, s.own(r.Set.Name))
	must.NoError(t, s.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	if owner := metav1.GetControllerOf(secret); owner == nil || owner.Kind != olmv1.ClusterObjectSetKind || len(secret.OwnerReferences) != 2 {
		t.Errorf("as it is owned: %v", secret.OwnerReferences)
	}
}

// TestRetention keeps the newest revisions, and all that are active.
func TestRetention(t *testing.T) {
	s := newServer(t)
	for i := int64(1); i <= 8; i++ {
		set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: Name("ext", i), Labels: map[string]string{olmv1.OwnerNameKey: "ext"},
			OwnerReferences: (&Options{Extension: Extension{Name: "ext", UID: "uid"}}).set("", nil).OwnerReferences}}
		set.Spec.Revision, set.Spec.LifecycleState = i, olmv1.LifecycleStateArchived
		if i == 2 || i == 8 {
			set.Spec.LifecycleState = olmv1.LifecycleStateActive
		}
		must.NoError(t, s.Create(t.Context(), set))
	}
	revisions := must.Value(List(t.Context(), s, "ext", "uid"))(t)
	s.Taken()
	must.NoError(t, Retain(t.Context(), s, revisions))
	must.Equal(t, "writes", s.Taken(), []string{"delete ClusterObjectSet ext-1", "delete ClusterObjectSet ext-3"})
	must.NoErrorf(t, Retain(t.Context(), s, revisions[:2]), "Retain")
	must.Empty(t, "retain", s.Taken())
	if !slices.IsSortedFunc(revisions, func(a, b olmv1.ClusterObjectSet) int { return int(a.Spec.Revision - b.Spec.Revision) }) {
		t.Error("the revisions are not in order")
	}
}

// TestSecretsAreControlled: the revision is the controller of its Secrets, also of those that were written before it was; what others hold is kept, and
// what is as it should be is not written.
func TestSecretsAreControlled(t *testing.T) {
	r := build(t, options(sized(t, "a", "x")))
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "other"}
	boss := other
	boss.Controller = new(true)
	for name, test := range map[string]struct {
		before func(set *olmv1.ClusterObjectSet) []metav1.OwnerReference
		want   string
	}{
		"as it is written": {nil, "ext-3 true"},
		"as it was written before": {func(set *olmv1.ClusterObjectSet) []metav1.OwnerReference {
			return []metav1.OwnerReference{ownerOf(set, nil), other}
		}, "ext-3 true, other false"},
		"without its reference":       {func(*olmv1.ClusterObjectSet) []metav1.OwnerReference { return []metav1.OwnerReference{other} }, "other false, ext-3 true"},
		"with a controller of others": {func(*olmv1.ClusterObjectSet) []metav1.OwnerReference { return []metav1.OwnerReference{boss} }, "other true, ext-3 false"},
		"as others write it": {func(set *olmv1.ClusterObjectSet) []metav1.OwnerReference {
			return []metav1.OwnerReference{ownerOf(set, new(true))}
		}, "ext-3 true"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			must.NoError(t, Write(t.Context(), s, r))
			set, secret := &olmv1.ClusterObjectSet{}, &corev1.Secret{}
			must.NoError(t, errors.Join(s.Get(t.Context(), client.ObjectKeyFromObject(r.Set), set), s.Get(t.Context(), client.ObjectKeyFromObject(r.Secrets[0]), secret)))
			if test.before != nil {
				secret.OwnerReferences = test.before(set)
				must.NoError(t, s.Update(t.Context(), secret))
			}
			must.NoError(t, s.own(r.Set.Name))
			must.NoError(t, s.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
			var got []string
			for _, o := range secret.OwnerReferences {
				got = append(got, fmt.Sprintf("%s %t", o.Name, o.Controller != nil && *o.Controller))
			}
			must.Equal(t, "owners (-want +got", strings.Join(got, ", "), test.want)
			version := secret.ResourceVersion
			must.NoErrorf(t, errors.Join(s.own(r.Set.Name), s.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)), "it is written again")
			must.Equal(t, "it is written again", secret.ResourceVersion, version)
		})
	}
}

// ownerOf is a reference to a revision.
func ownerOf(set *olmv1.ClusterObjectSet, controller *bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: set.Name, UID: set.UID, Controller: controller, BlockOwnerDeletion: controller}
}
