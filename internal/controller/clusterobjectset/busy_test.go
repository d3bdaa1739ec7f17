package clusterobjectset

import (
	"context"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// busy does not list the objects of a kind for some times.
type busy struct {
	client.Reader
	kind string
	left int
	err  error
}

func (b *busy) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if list.GetObjectKind().GroupVersionKind().Kind == b.kind+"List" && b.left > 0 {
		b.left--
		return b.err
	}
	return b.Reader.List(ctx, list, options...)
}

// TestLostContentOfABusyCluster: what cannot be listed for now is not taken for nothing, and of definitions nothing is: one that is not known of
// would go with its set, and all custom resources with it.
func TestLostContentOfABusyCluster(t *testing.T) {
	tooMany := apierrors.NewTooManyRequests("busy", 1)
	for name, test := range map[string]struct {
		kind string
		err  error
	}{
		"definitions":                          {crdKind.Kind, tooMany},
		"definitions, for whatever reason":     {crdKind.Kind, apierrors.NewForbidden(crdKind.GroupVersion().WithResource("customresourcedefinitions").GroupResource(), "", nil)},
		"definitions are said not to be there": {crdKind.Kind, apierrors.NewNotFound(crdKind.GroupVersion().WithResource("customresourcedefinitions").GroupResource(), "")},
		"others":                               {"Service", tooMany},
	} {
		t.Run(name, func(t *testing.T) {
			w := extended(t)
			w.count = 3
			w.lose("ext-1")
			w.controller.live = &busy{Reader: w.controller.live, kind: test.kind, left: 1, err: test.err}
			w.leave(nil)
			if _, err := w.pass("ext-1"); err == nil || !strings.Contains(err.Error(), "whose content is lost") {
				t.Errorf("it goes on: %v", err)
			}
			must.Equal(t, "it has gone on", len(w.definition().OwnerReferences), 1)
			must.Equal(t, "it has gone on", len(w.names()), 1)
			w.settle()
			if crd := w.definition(); len(w.names()) > 0 || len(crd.OwnerReferences) > 0 || w.get("Service", "new") != nil {
				t.Errorf("left: %v, %+v", w.names(), crd.ObjectMeta)
			}
		})
	}
	t.Run("others for ever", func(t *testing.T) {
		w := extended(t)
		w.count = 3
		w.lose("ext-1")
		w.controller.live = &busy{Reader: w.controller.live, kind: "Service", left: 1 << 30, err: tooMany}
		w.leave(nil)
		w.Clock.SetTime(w.set("ext-1").DeletionTimestamp.Add(operandTimeout + time.Second))
		w.settle()
		must.Empty(t, "names", w.names())
		must.Contain(t, "told", w.told(), "removes what else it controls when the set goes, of Service")
	})
}

// TestLostContentWithoutLabels: definitions are found by their owner, whatever a person has done to their labels.
func TestLostContentWithoutLabels(t *testing.T) {
	w := extended(t)
	w.count = 3
	crd := w.definition()
	crd.Labels = nil
	for i := range crd.OwnerReferences {
		crd.OwnerReferences[i].Controller = nil
	}
	crd.OwnerReferences = append(crd.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "other"})
	w.lose("ext-1")
	w.update(crd)
	w.leave(nil)
	w.settle()
	if crd := w.definition(); len(w.names()) > 0 || crd == nil || len(crd.OwnerReferences) != 1 || crd.OwnerReferences[0].UID != "other" {
		t.Errorf("left: %v, %+v", w.names(), crd)
	}
}
