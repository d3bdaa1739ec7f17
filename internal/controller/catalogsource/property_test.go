package catalogsource

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// history is a world in which anything happens: users change their minds, registries and the API server fail, and the manager starts again.
type history struct {
	*world
	dice  *rand.Rand
	log   []string
	again time.Duration
}

func pick[T any](h *history, all ...T) T { return all[h.dice.IntN(len(all))] }

func (h *history) happen() {
	events := []struct {
		name string
		do   func()
	}{
		{"registry fails", func() { h.registry.err = pick(h, errors.New("unauthorized"), errors.New("connection refused")) }},
		{"registry works", func() { h.registry.err = nil }},
		{"new content", func() { h.registry.content = pick(h, "one", "two", "three") }},
		{"no catalog in the image", func() { h.registry.noCatalog = !h.registry.noCatalog }},
		{"image", func() {
			h.update(func(s *v1alpha1.CatalogSource) {
				s.Spec = grpc(pick(h, 0, time.Millisecond, time.Minute))
				s.Spec.Image = pick(h, "registry.example.com/cat:latest", "registry.example.com/other:v2")
			})
		}},
		{"address", func() { h.update(func(s *v1alpha1.CatalogSource) { s.Spec = atAddress("192.0.2.1:50051") }) }},
		{"ConfigMap", func() { h.update(func(s *v1alpha1.CatalogSource) { s.Spec = inConfigMap(pick(h, "content", "none")) }) }},
		{"invalid", func() {
			h.update(func(s *v1alpha1.CatalogSource) {
				s.Spec = v1alpha1.CatalogSourceSpec{SourceType: pick(h, v1alpha1.SourceTypeGrpc, v1alpha1.SourceType("ftp"))}
			})
		}},
		{"secrets", func() {
			h.update(func(s *v1alpha1.CatalogSource) { s.Spec.Secrets = pick(h, nil, []string{"missing"}) })
		}},
		{"template", func() {
			h.update(func(s *v1alpha1.CatalogSource) {
				s.Annotations = map[string]string{v1alpha1.CatalogImageTemplateAnnotation: pick(h, "", "registry.example.com/cat:v{kube_minor_version}", "registry.example.com/cat:{x}")}
			})
		}},
		{"content of the ConfigMap", func() {
			content := pick(h, good, "garbled", "")
			m := configMap("content", content)
			if err := client.IgnoreNotFound(h.client.Delete(h.t.Context(), m)); err != nil {
				h.t.Fatal(err)
			}
			if content != "" {
				h.create(configMap("content", content))
			}
		}},
		{"deleted and made again", h.remake},
		{"manager starts again", func() { h.restarted(); h.serve() }},
		{"writes fail", func() {
			fault := pick[error](h, apierrors.NewServiceUnavailable("down"), apierrors.NewForbidden(serviceKind, "cat", errors.New("no")))
			h.refuse(false, fault)
		}},
		{"writes work", func() { h.Before = nil }},
		{"time passes", func() { h.Clock.Step(pick(h, time.Second, time.Minute, time.Hour)) }},
	}
	e := events[h.dice.IntN(len(events))]
	h.log = append(h.log, e.name)
	e.do()
}

func (h *history) remake() {
	fault := h.Before
	h.Before = nil
	old := h.source()
	if err := h.client.Delete(h.t.Context(), old); err != nil {
		h.t.Fatal(err)
	}
	if h.dice.IntN(2) == 0 { // or it is too quick to be noticed
		_, _ = h.c.Reconcile(h.t.Context(), ctrl.Request{NamespacedName: key})
	}
	next := source(old.Spec)
	next.UID = types.UID(fmt.Sprintf("uid%d", len(h.log)))
	h.create(next)
	h.Before = fault
}

// settle lets the controller look until it writes nothing any more, as long as it asks for it at once.
func (h *history) settle() {
	const enough = 12
	for range enough {
		h.Taken()
		result, err := h.c.Reconcile(h.t.Context(), ctrl.Request{NamespacedName: key})
		if h.again = result.RequeueAfter; h.Count(reported) == 0 && (err != nil || result.RequeueAfter != catalogstore.MinimumPause || len(h.packages()) > 0) {
			return
		}
		if result.RequeueAfter == catalogstore.MinimumPause {
			h.Clock.Step(catalogstore.MinimumPause)
		}
	}
	h.t.Fatalf("after %d looks there is still something to write: %+v\nhistory: %v", enough, h.source().Status, h.log)
}

// contradictions are what the status must never say, of what is served and of itself.
func (h *history) contradictions() []string {
	s := h.source()
	var found []string
	wrong := func(bad bool, what string) {
		if bad {
			found = append(found, what)
		}
	}
	ready := meta.FindStatusCondition(s.Status.Conditions, reconcile.TypeReady)
	if ready == nil {
		return nil // nothing could be written yet
	}
	state := ""
	if c := s.Status.GRPCConnectionState; c != nil {
		state = c.LastObservedState
	}
	served := len(h.packages()) > 0
	e, _ := h.c.catalogs.Get(ref)
	wrong(ready.Reason == "" || ready.Message == "", "Ready has no reason")
	wrong(len(ready.Message) > messages.MaxStatus+100, "Ready says too much")
	wrong(ready.ObservedGeneration != s.Generation, "Ready is about an older generation")
	wrong(ready.Status == metav1.ConditionTrue && !served, "Ready, and nothing is served")
	wrong(ready.Status == metav1.ConditionTrue && ready.Reason == reasonServing && (s.Status.Message != "" && s.Status.Reason != v1alpha1.CatalogSourceIntervalInvalidError), "all is well, and a message says what is wrong")
	wrong(ready.Status == metav1.ConditionTrue && ready.Reason == reasonServing && e.Problem != "", "all is well, and Subscriptions are told of a problem")
	wrong(ready.Status == metav1.ConditionFalse && state == "READY", "not Ready, and the connection is READY")
	wrong(ready.Status == metav1.ConditionUnknown && state == "READY", "not known to be Ready, and the connection is READY")
	wrong(ready.Status == metav1.ConditionTrue && state == "TRANSIENT_FAILURE" && !isAddress(s), "Ready, and the connection fails")
	wrong(s.Status.Reason != "" && s.Status.Message == "", "a reason without a message")
	wrong(s.Status.Reason == v1alpha1.CatalogSourceSpecInvalidError && (served || state != ""), "the spec is invalid, and something is served")
	wrong(s.Status.Reason == v1alpha1.CatalogSourceConfigMapError && !isConfigMap(s), "trouble with a ConfigMap that is not asked for")
	wrong(ready.Status != metav1.ConditionTrue && ready.Reason != reasonLoading && s.Status.Reason == "", "not Ready, and no reason is given")
	wrong(strings.Contains(s.Status.Message, "down"), "an API server that comes and goes is told of")
	resolved, used := meta.FindStatusCondition(s.Status.Conditions, conditionTemplates), meta.FindStatusCondition(s.Status.Conditions, conditionResolvedImage)
	wrong((resolved == nil) != (used == nil) || resolved != nil && resolved.Status != used.Status, "the two conditions of a template disagree")
	wrong(ready.Status != metav1.ConditionTrue && ready.Reason != string(v1alpha1.CatalogSourceSpecInvalidError) && h.again == 0 && h.Before == nil && h.c.loads.of(ref, h.c.memory.known[ref].spec) == nil && !isConfigMap(s),
		"not Ready, and it is never looked at again")
	return found
}

// TestNoHistoryOfFaultsLeadsToAContradiction lets things happen at random. Whatever they were, the status says one thing only, with a reason,
// and the catalog comes to rest.
func TestNoHistoryOfFaultsLeadsToAContradiction(t *testing.T) {
	histories := 24
	if testing.Short() {
		histories = 10
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, source(grpc(time.Minute)), configMap("content", good), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}})
			w.c.records = records{dir: t.TempDir(), indexes: w.indexes}
			w.serve()
			h := &history{world: w, dice: rand.New(rand.NewPCG(uint64(seed), 1))}
			for range 60 {
				h.happen()
				h.settle()
				for _, complaint := range h.contradictions() {
					t.Fatalf("%s: %+v\nhistory: %v", complaint, h.source().Status, h.log)
				}
			}
		})
	}
}
