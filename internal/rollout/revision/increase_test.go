package revision

import (
	"errors"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// grants are the objects of an operator that may do something with Secrets.
func grants(t *testing.T, verbs string) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{
		object(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: kite, namespace: sky}}"),
		object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: kite}, rules: [{apiGroups: [''], resources: [secrets], verbs: ["+verbs+"]}]}"),
		object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: kite}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kite}, subjects: [{kind: ServiceAccount, name: kite, namespace: sky}]}"),
	}
}

// at is an extension that asks for a version.
func at(version string, annotations ...string) *olmv1.ClusterExtension {
	ext := kite(annotations...)
	ext.Spec.Source.Catalog.Version = version
	return ext
}

func TestIncrease(t *testing.T) {
	one := Bundle{Name: "kite.v1.0.0", Version: "1.0.0", Image: "registry.example/kite@sha256:1"}
	two := Bundle{Name: "kite.v2.0.0", Version: "2.0.0", Image: "registry.example/kite@sha256:2"}
	direct := two
	direct.Direct = true
	foreign := Bundle{Name: "kite.v1.0.0", Version: "1.0.0", Image: "registry.example/mirror@sha256:3"}
	unpublished := Bundle{Name: "kite.v1.0.0", Version: "1.0.0", Content: "sha256:4"}
	less, more := grants(t, "get"), grants(t, "get, list")
	digest := permissions.Compare(less, more).Digest()
	uncatalogued := kite()
	uncatalogued.Spec.Source.Catalog = nil

	installed := made(t, 1, one, less...)
	rolling := made(t, 2, Bundle{Name: "other", Version: "2.0.0", Image: "registry.example/kite@sha256:5"}, less...)
	rolling.Set.Status.Conditions = nil
	gone := made(t, 2, Bundle{Name: "other", Version: "2.0.0", Image: "registry.example/kite@sha256:5"}, less...)
	gone.Set.Status.Conditions, gone.Set.Spec.LifecycleState = nil, olmv1.LifecycleStateArchived
	stored := []client.Object{installed.Set}
	for _, s := range installed.Secrets {
		stored = append(stored, s)
	}
	revisions := []olmv1.ClusterObjectSet{*installed.Set}
	const asks = "kite.v2.0.0 asks for permissions that kite.v1.0.0 does not have:\nServiceAccount sky/kite:\n"
	byVersion := "or set spec.source.catalog.version to exactly 2.0.0"
	for name, c := range map[string]struct {
		ext       *olmv1.ClusterExtension
		revisions []olmv1.ClusterObjectSet
		to        Bundle
		objects   []*unstructured.Unstructured
		repeated  bool
		want      string
		unseen    bool // no version is a way to agree
	}{
		"more":                                  {ext: kite(), revisions: revisions, to: two, objects: more, want: asks},
		"the same":                              {ext: kite(), revisions: revisions, to: two, objects: less},
		"less":                                  {ext: kite(), revisions: revisions, to: two, objects: less[:1]},
		"more, and nothing is installed":        {ext: kite(), to: two, objects: more},
		"more, and it goes back":                {ext: kite(), revisions: revisions, to: two, objects: more, repeated: true},
		"more, by configuration":                {ext: kite(), revisions: revisions, to: one, objects: more},
		"more, of that name elsewhere":          {ext: kite(), revisions: revisions, to: foreign, objects: more, unseen: true, want: "kite.v1.0.0 asks for permissions that the kite.v1.0.0 that is installed, of registry.example/kite@sha256:1, does not have"},
		"more, of that name in a catalog":       {ext: kite(), revisions: revisions, to: unpublished, objects: more, unseen: true, want: "kite.v1.0.0 asks for permissions that the kite.v1.0.0 that is installed"},
		"more, all is agreed to":                {ext: kite(permissions.AcknowledgedKey, AcknowledgedAll), revisions: revisions, to: two, objects: more},
		"more, this is agreed to":               {ext: kite(permissions.AcknowledgedKey, digest), revisions: revisions, to: two, objects: more},
		"more, something else is agreed to":     {ext: kite(permissions.AcknowledgedKey, "sha256:0"), revisions: revisions, to: two, objects: more, want: asks},
		"more, the version is chosen":           {ext: at("2.0.0"), revisions: revisions, to: two, objects: more},
		"more, a range is chosen":               {ext: at(">=1.0.0"), revisions: revisions, to: two, objects: more, want: asks},
		"more, of a chosen version elsewhere":   {ext: at("1.0.0"), revisions: revisions, to: foreign, objects: more, unseen: true, want: "kite.v1.0.0 asks for permissions"},
		"more, from an image":                   {ext: at("2.0.0"), revisions: revisions, to: direct, objects: more, unseen: true, want: asks},
		"more, others of that version roll out": {ext: at("2.0.0"), revisions: append(revisions[:1:1], *rolling.Set), to: two, objects: more, unseen: true, want: asks},
		"more, others of that version are gone": {ext: at("2.0.0"), revisions: append(revisions[:1:1], *gone.Set), to: two, objects: more},
		"more, without a catalog":               {ext: uncatalogued, revisions: revisions, to: two, objects: more, want: asks},
	} {
		t.Run(name, func(t *testing.T) {
			err := Preflight{Client: world(stored...)}.Increase(t.Context(), Change{Extension: c.ext, Revisions: c.revisions, Bundle: c.to, Objects: c.objects, Repeated: c.repeated})
			wantAnswer(t, err, c.want, olmv1.ReasonBlocked)
			if c.want == "" {
				return
			}
			var increase *IncreaseError
			if !errors.As(err, &increase) || increase.Digest() != digest || !contains(err, permissions.AcknowledgedKey+" of ClusterExtension kite to \""+digest+`"`) {
				t.Errorf("does not tell how to agree: %v", err)
			}
			if found, ok := AskedPermissions(err.Error()); !ok || found != digest {
				t.Errorf("the digest is not found in the text: %q, %t", found, ok)
			}
			if contains(err, "or set spec.source.catalog.version") == c.unseen || !c.unseen && !contains(err, byVersion) {
				t.Errorf("a version is a way to agree: %t, want %t: %v", c.unseen, !c.unseen, err)
			}
		})
	}
}

// TestIncreaseOverWhatCannotBeRead is a question without an answer, unless a person has agreed to all.
func TestIncreaseOverWhatCannotBeRead(t *testing.T) {
	installed := made(t, 1, Bundle{Name: "kite.v1.0.0"}, grants(t, "get")...)
	s := Change{Extension: kite(), Revisions: []olmv1.ClusterObjectSet{*installed.Set}, Bundle: Bundle{Name: "kite.v2.0.0"}, Objects: grants(t, "get")}
	broken := Preflight{Client: without(world(), "Secret", errRefused)}
	wantAnswer(t, broken.Increase(t.Context(), s), "read what is installed, to see whether kite.v2.0.0 asks for more permissions", "")
	s.Extension = kite(permissions.AcknowledgedKey, AcknowledgedAll)
	wantAnswer(t, broken.Increase(t.Context(), s), "", "")
}

// TestIncreaseOverWhatIsLost cannot be told, and may be agreed to nevertheless: by the version, where that says something about the bundle.
func TestIncreaseOverWhatIsLost(t *testing.T) {
	installed := made(t, 1, Bundle{Name: "kite.v1.0.0"}, grants(t, "get")...)
	for name, c := range map[string]struct {
		direct bool
		want   string
	}{
		"of a catalog": {false, ", or, to allow whatever it asks for, set spec.source.catalog.version to exactly 2.0.0"},
		"of an image":  {true, `, or, to allow whatever it asks for, set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension kite to "*"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := Change{Extension: kite(), Revisions: []olmv1.ClusterObjectSet{*installed.Set}, Bundle: Bundle{Name: "kite.v2.0.0", Version: "2.0.0", Direct: c.direct}, Objects: grants(t, "get")}
			err := Preflight{Client: world()}.Increase(t.Context(), s)
			wantAnswer(t, err, "whether kite.v2.0.0 asks for more permissions than revision 1, which is installed, cannot be told: ", "")
			wantAnswer(t, err, c.want, "")
		})
	}
}

func TestCalled(t *testing.T) {
	for name, c := range map[string]struct {
		of   Bundle
		want string
	}{
		"another name":                {Bundle{Name: "kite.v1.0.0"}, "kite.v1.0.0"},
		"the same name, of an image":  {Bundle{Name: "kite.v2.0.0", Image: "registry.example/kite@sha256:1"}, "the kite.v2.0.0 that is installed, of registry.example/kite@sha256:1,"},
		"the same name, of a catalog": {Bundle{Name: "kite.v2.0.0", Content: "sha256:4"}, "the kite.v2.0.0 that is installed, of catalog content sha256:4,"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "called", called(made(t, 1, c.of).Set, "kite.v2.0.0"), c.want)
		})
	}
}

// TestAskedPermissions: other messages ask for nothing, the one that would allow everything included.
func TestAskedPermissions(t *testing.T) {
	for _, message := range []string{"", "Desired state reached", `to allow whatever it asks for, set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension kite to "*"`,
		`to allow them: fairlead approve kite, or set annotation operators.fairlead.dev/acknowledged-permissions of ClusterExtension kite to "*"`} {
		if digest, ok := AskedPermissions(message); ok {
			t.Errorf("%q asks for %q", message, digest)
		}
	}
}
