package clusterobjectset

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// operandPatience is how long an operator stays for the custom resources that go with their definitions: it may have to do what their
// finalizers stand for.
const operandPatience = 10 * time.Minute

// reasonKept is the reason of the Event that tells of definitions that stay.
const reasonKept = "CRDKept"

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// definitions are the CustomResourceDefinitions of a set that is taken out, as far as they do not go with their phase.
type definitions struct {
	// first go before everything else; late go after it, because their custom resources have been waited for long enough.
	first, late map[rollout.Ref]bool
	// waiting is what they wait for.
	waiting []string
	// hold says that other revisions of an extension that goes have definitions yet, for which the operator has to stay.
	hold bool
}

// settleDefinitions decides what becomes of the definitions that a set controls. Those with custom resources stay, unless somebody wants them
// deleted; then they go while the operator still runs.
func (c *Controller) settleDefinitions(ctx context.Context, f *family, known *notes) (*definitions, error) {
	d := &definitions{first: map[rollout.Ref]bool{}, late: map[rollout.Ref]bool{}}
	end, err := c.endOf(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, p := range known.phases {
		for _, e := range p {
			if e.ref.GroupKind() == crdKind.GroupKind() {
				if err := c.settleDefinition(ctx, f, end, known, e.ref, d); err != nil {
					return nil, err
				}
			}
		}
	}
	if end.leaving {
		err = c.awaitSiblings(ctx, f, d)
	}
	return d, err
}

func (c *Controller) settleDefinition(ctx context.Context, f *family, end *ending, known *notes, ref rollout.Ref, d *definitions) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	err := c.live.Get(ctx, client.ObjectKey{Name: ref.Name}, live)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	if !metav1.IsControlledBy(live, f.set) {
		return nil // it is not this one's to remove
	}
	if !live.DeletionTimestamp.IsZero() {
		return c.await(ctx, live, ref, d)
	}
	what := ""
	if !end.deletes(live.Name) {
		if what, err = c.populated(ctx, f.set, known, live); err != nil {
			return err
		}
	}
	if what == "" {
		d.first[ref] = true
		return nil
	}
	return c.keep(ctx, f, end, live, what)
}

// await notes what a definition waits for that is being deleted.
func (c *Controller) await(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition, ref rollout.Ref, d *definitions) error {
	held, err := c.held(ctx, c.live, live)
	if err != nil {
		held = []string{fmt.Sprintf("what the custom resources of %s wait for is not known: %s", live.Name, messages.Error(err))}
	}
	until := live.DeletionTimestamp.Add(operandPatience)
	after := fmt.Sprintf("; the operator stays for that until %s", until.UTC().Format(time.RFC3339))
	if d.first[ref] = true; c.clock.Now().After(until) {
		delete(d.first, ref)
		d.late[ref] = true
		after = fmt.Sprintf("; %s were not enough for that, so the operator is removed; remove the finalizers yourself", operandPatience)
	}
	for _, what := range held {
		d.waiting = append(d.waiting, what+after)
	}
	return nil
}

// keep makes sure that a definition stays, and tells why.
func (c *Controller) keep(ctx context.Context, f *family, end *ending, live *apiextensionsv1.CustomResourceDefinition, what string) error {
	deaf, err := revision.LosesConverter(ctx, c.live, live, func(service metav1.Object) bool {
		controller := metav1.GetControllerOfNoCopy(service)
		return controller != nil && (controller.UID == f.set.UID || end.leaving && f.siblings[controller.UID] != nil)
	})
	if err != nil {
		return err
	}
	held, err := c.held(ctx, c.live, live)
	if err == nil && len(held) > 0 {
		what += "; " + held[0] + ", which no controller removes once the operator is gone"
	}
	if err := revision.Keep(ctx, c.client, live, end.keptOf(f), deaf, objectManager); err != nil {
		return unlessChanged(err)
	}
	text := fmt.Sprintf("CustomResourceDefinition %s stays: %s. To delete it with them, kubectl delete crd %[1]s", live.Name, what)
	c.events.Event(f.set, corev1.EventTypeWarning, reasonKept, text)
	if end.ext != nil {
		c.events.Event(end.ext, corev1.EventTypeWarning, reasonKept, text)
	}
	return nil
}

// unlessChanged lets somebody else's change of an object pass: the next pass sees it.
func unlessChanged(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// awaitSiblings holds back what runs an operator as long as other revisions of its extension, which goes, have definitions: their custom
// resources may need it.
func (c *Controller) awaitSiblings(ctx context.Context, f *family, d *definitions) error {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(crdKind.GroupVersion().WithKind(crdKind.Kind + "List"))
	if err := c.live.List(ctx, metadata, client.MatchingLabels{managedByLabel: managedByValue}); err != nil {
		return fmt.Errorf("list the CustomResourceDefinitions of the other revisions: %w", err)
	}
	var names []string
	for i := range metadata.Items {
		crd := &metadata.Items[i]
		controller := metav1.GetControllerOfNoCopy(crd)
		if controller == nil || f.siblings[controller.UID] == nil || !crd.DeletionTimestamp.IsZero() && c.clock.Now().After(crd.DeletionTimestamp.Add(operandPatience)) {
			continue
		}
		names = append(names, fmt.Sprintf("CustomResourceDefinition %s, which revision %s removes or lets go of first", crd.Name, f.siblings[controller.UID].Name))
	}
	slices.Sort(names)
	d.hold = len(names) > 0
	d.waiting = append(d.waiting, names...)
	return nil
}
