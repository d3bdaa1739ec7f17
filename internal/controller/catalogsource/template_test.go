package catalogsource

import (
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
	clienttesting "k8s.io/client-go/testing"
	ctrl "sigs.k8s.io/controller-runtime"
)

func templated(text string) *v1alpha1.CatalogSource {
	s := source(grpc(0))
	s.Annotations = map[string]string{v1alpha1.CatalogImageTemplateAnnotation: text}
	return s
}

func TestResolveTemplate(t *testing.T) {
	cluster := version.MustParseSemantic("v1.36.3+fl1")
	for name, test := range map[string]struct {
		text    string
		cluster *version.Version
		image   string
		wrong   string
	}{
		"no template":        {"", cluster, "", ""},
		"all variables":      {"r.example.com/c:v{kube_major_version}.{kube_minor_version}.{kube_patch_version}", cluster, "r.example.com/c:v1.36.3", ""},
		"no variables":       {"r.example.com/c:v1", cluster, "r.example.com/c:v1", ""},
		"unknown variable":   {"r.example.com/c:{ocp_version}-{x}-{x}", cluster, "r.example.com/c:missing-missing-missing", "no value for {ocp_version}, {x};"},
		"an unknown version": {"r.example.com/c:v{kube_minor_version}", nil, "r.example.com/c:vmissing", "the version of the cluster is not known"},
		"no image":           {"r.example.com/C:{kube_minor_version}", cluster, "r.example.com/C:36", "comes to what is no image"},
	} {
		t.Run(name, func(t *testing.T) {
			got := resolveTemplate(templated(test.text), test.cluster)
			if got.image != test.image || !strings.Contains(got.wrong, test.wrong) || (got.wrong == "") != (test.wrong == "") {
				t.Errorf("got %+v", got)
			}
		})
	}
	inMap := templated("r.example.com/c:v1")
	inMap.Spec = inConfigMap("x")
	if got := resolveTemplate(inMap, cluster); got != (template{}) {
		t.Errorf("a catalog without image has the template %+v", got)
	}
}

func TestATemplateFollowsTheCluster(t *testing.T) {
	w := newWorld(t, templated("registry.example.com/cat:v{kube_minor_version}"))
	result, s := w.reconcile()
	check := func(image string) {
		t.Helper()
		resolved, used := meta.FindStatusCondition(s.Status.Conditions, conditionTemplates), meta.FindStatusCondition(s.Status.Conditions, conditionResolvedImage)
		if s.Spec.Image != image || resolved == nil || resolved.Status != "True" || resolved.Reason != "AllTemplatesResolved" || used == nil || used.Status != "True" || used.Message != image {
			t.Errorf("image %s, want %s; conditions %+v", s.Spec.Image, image, s.Status.Conditions)
		}
		must.Equal(t, "ready reason", readyReason(s), "True Serving")
	}
	check("registry.example.com/cat:v36")
	must.Equal(t, "looked at again", result.RequeueAfter, templateLife)
	w.Taken()
	w.Clock.Step(templateLife)
	w.reconcile()
	must.Empty(t, "writes of looking again", w.Writes())
	w.versions.FakedServerVersion = &apiversion.Info{GitVersion: "v1.37.0"}
	w.Clock.Step(templateLife)
	_, s = w.reconcile()
	check("registry.example.com/cat:v37")
	// A version that cannot be found out is no reason to change anything.
	w.versions.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("down") })
	w.Clock.Step(templateLife)
	_, s = w.reconcile()
	check("registry.example.com/cat:v37")
	w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = nil })
	if _, s = w.reconcile(); len(s.Status.Conditions) != 1 || s.Spec.Image != "registry.example.com/cat:v37" {
		t.Errorf("without the annotation: image %s, conditions %+v", s.Spec.Image, s.Status.Conditions)
	}
}

func TestABadTemplateChangesNothing(t *testing.T) {
	w := newWorld(t, templated("registry.example.com/cat:{nonsense}"))
	_, s := w.reconcile()
	resolved, used := meta.FindStatusCondition(s.Status.Conditions, conditionTemplates), meta.FindStatusCondition(s.Status.Conditions, conditionResolvedImage)
	if resolved == nil || resolved.Status != "False" || resolved.Reason != "UnableToResolve" || used == nil || used.Status != "False" || used.Message != "registry.example.com/cat:missing" {
		t.Errorf("conditions %+v", s.Status.Conditions)
	}
	must.Equal(t, "image", s.Spec.Image, "registry.example.com/cat:latest")
	must.Equal(t, "ready reason", readyReason(s), "True Serving")
}

// TestAnImageThatMayNotBeSet is reported, and takes nothing away.
func TestAnImageThatMayNotBeSet(t *testing.T) {
	w := newWorld(t, templated("registry.example.com/cat:v{kube_minor_version}"))
	w.refuse(false, apierrors.NewForbidden(schema.GroupResource{Resource: "catalogsources"}, "cat", errors.New("a policy")))
	if _, err := w.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err == nil || !strings.Contains(err.Error(), "a policy") {
		t.Errorf("got %v", err)
	}
	s := w.source()
	used := meta.FindStatusCondition(s.Status.Conditions, conditionResolvedImage)
	if used == nil || used.Status != "False" || s.Spec.Image != "registry.example.com/cat:latest" || readyReason(s) != "True Serving" || len(w.packages()) != 1 {
		t.Errorf("image %s, status %+v", s.Spec.Image, s.Status)
	}
	must.Contain(t, "it is not told why", meta.FindStatusCondition(s.Status.Conditions, conditionTemplates).Message, "a policy")
	w.Before = nil
	if _, s = w.reconcile(); s.Spec.Image != "registry.example.com/cat:v36" || readyReason(s) != "True Serving" {
		t.Errorf("image %s, status %+v", s.Spec.Image, s.Status)
	}
}
