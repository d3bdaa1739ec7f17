package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operandTimeout is how long an operator stays for the custom resources that go with their definitions: it may have to do what their
// finalizers stand for.
const operandTimeout = 10 * time.Minute

// reasonKept is the reason of the Event that tells of definitions that stay.
const reasonKept = "CRDKept"

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// definitions are the CustomResourceDefinitions of a set that is removed, as far as they do not go with their phase.
type definitions struct {
	// first go before everything else; late go after it, because their custom resources have been waited for long enough.
	first, late map[rollout.Ref]bool
	// waiting is what they wait for.
	waiting []string
	// hold says that other revisions of an extension that goes have definitions yet, for which the operator has to stay.
	hold bool
}

// keeper keeps definitions whose custom resources would be lost, and removes the others in time.
type keeper struct{ *environment }

// settleDefinitions decides what becomes of the definitions that a set controls. Those with custom resources stay, unless a person wants them
// deleted; then they go while the operator still runs.
func (k *keeper) settle(ctx context.Context, f *family, known *notes) (*definitions, error) {
	d := &definitions{first: map[rollout.Ref]bool{}, late: map[rollout.Ref]bool{}}
	// With what the set goes is read past the cache: the consent to losing data counts when it is there.
	end, ext := &ending{}, &olmv1.ClusterExtension{}
	if name, uid := revision.ExtensionOf(f.set); uid != "" {
		err := k.live.Get(ctx, client.ObjectKey{Name: name}, ext)
		switch {
		case apierrors.IsNotFound(err) || err == nil && ext.UID != uid:
			end.leaving = f.set.DeletionTimestamp != nil
		case err != nil:
			return nil, fmt.Errorf("read ClusterExtension %s, to see whether it goes: %w", name, err)
		default:
			end.ext, end.leaving = ext, f.set.DeletionTimestamp != nil && !ext.DeletionTimestamp.IsZero()
		}
	}
	for _, p := range known.phases {
		for _, e := range p {
			if e.ref.GroupKind() == crdKind.GroupKind() {
				if err := k.settleDefinition(ctx, f, end, known, e.ref, d); err != nil {
					return nil, err
				}
			}
		}
	}
	if end.leaving {
		return d, k.awaitSiblings(ctx, f, d)
	}
	return d, nil
}

func (k *keeper) settleDefinition(ctx context.Context, f *family, end *ending, known *notes, ref rollout.Ref, d *definitions) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	err := k.live.Get(ctx, client.ObjectKey{Name: ref.Name}, live)
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
		// Note what a definition waits for that is being deleted.
		held, err := k.held(ctx, k.live, live)
		if err != nil {
			held = []string{fmt.Sprintf("what the custom resources of %s wait for is not known: %s", live.Name, messages.Error(err))}
		}
		until := live.DeletionTimestamp.Add(operandTimeout)
		after := fmt.Sprintf("; the operator stays for that until %s", until.UTC().Format(time.RFC3339))
		if d.first[ref] = true; k.clock.Now().After(until) {
			delete(d.first, ref)
			d.late[ref] = true
			after = fmt.Sprintf("; %s were not enough for that, so the operator is removed; remove the finalizers yourself", operandTimeout)
		}
		for _, what := range held {
			d.waiting = append(d.waiting, what+after)
		}
		return nil
	}
	// A person may want it deleted although it has custom resources.
	deletes := revision.DeletesCRD(f.set, live.Name) || end.ext != nil && (revision.DeletesCRD(end.ext, live.Name) || !end.leaving && revision.RemovalExempt(end.ext, live.Name))
	what := ""
	if !deletes {
		if what, err = k.populated(ctx, f.set, known, live); err != nil {
			return err
		}
	}
	if what == "" {
		d.first[ref] = true
		return nil
	}
	return k.keep(ctx, f, end, live, what)
}

// keep makes sure that a definition stays, and tells why.
func (k *keeper) keep(ctx context.Context, f *family, end *ending, live *apiextensionsv1.CustomResourceDefinition, what string) error {
	deaf, err := revision.LosesConverter(ctx, k.live, live, func(service metav1.Object) bool {
		controller := metav1.GetControllerOfNoCopy(service)
		return controller != nil && (controller.UID == f.set.UID || end.leaving && f.siblings[controller.UID] != nil)
	})
	if err != nil {
		return err
	}
	held, err := k.held(ctx, k.live, live)
	if err == nil && len(held) > 0 {
		what += "; " + held[0] + ", which no controller removes once the operator is gone"
	}
	// While the extension stays, a later revision of it may adopt the definition; otherwise only the next extension of its name may, not what is left
	// of this one.
	keptOf := ""
	if name, uid := revision.ExtensionOf(f.set); uid != "" {
		if keptOf = revision.KeptOf(name, f.set.UID); end.leaving {
			keptOf = revision.KeptOf(name, uid)
		}
	}
	if err := revision.Keep(ctx, k.client, live, keptOf, deaf, objectManager); err != nil {
		return client.IgnoreNotFound(err)
	}
	text := fmt.Sprintf("CustomResourceDefinition %s stays: %s. To delete it with them, kubectl delete crd %[1]s", live.Name, what)
	k.events.Event(f.set, corev1.EventTypeWarning, reasonKept, text)
	if end.ext != nil {
		k.events.Event(end.ext, corev1.EventTypeWarning, reasonKept, text)
	}
	return nil
}

// awaitSiblings holds back what runs an operator as long as other revisions of its extension, which goes, have definitions: their custom
// resources may need it.
func (k *keeper) awaitSiblings(ctx context.Context, f *family, d *definitions) error {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(crdKind.GroupVersion().WithKind(crdKind.Kind + "List"))
	if err := k.live.List(ctx, metadata, client.MatchingLabels{managedByLabel: managedByValue}); err != nil {
		return fmt.Errorf("list the CustomResourceDefinitions of the other revisions: %w", err)
	}
	var names []string
	for i := range metadata.Items {
		crd := &metadata.Items[i]
		controller := metav1.GetControllerOfNoCopy(crd)
		if controller == nil || f.siblings[controller.UID] == nil || !crd.DeletionTimestamp.IsZero() && k.clock.Now().After(crd.DeletionTimestamp.Add(operandTimeout)) {
			continue
		}
		names = append(names, fmt.Sprintf("CustomResourceDefinition %s, which revision %s removes or lets go of first", crd.Name, f.siblings[controller.UID].Name))
	}
	slices.Sort(names)
	d.hold = len(names) > 0
	d.waiting = append(d.waiting, names...)
	return nil
}

// ending is with what a set goes.
type ending struct {
	// ext is the extension that the set is a revision of; nil when there is none, or it is gone.
	ext *olmv1.ClusterExtension
	// leaving says that the extension goes, with all its revisions.
	leaving bool
}

// populated says how many custom resources a definition has, or why that cannot be told; empty is for none. Its error is one that may pass
// in time.
func (k *keeper) populated(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes, live *apiextensionsv1.CustomResourceDefinition) (string, error) {
	// The custom resources that the set has itself go in any case.
	own := map[client.ObjectKey]bool{}
	for _, p := range known.phases {
		for _, e := range p {
			if e.ref.Group != live.Spec.Group || e.ref.Kind != live.Spec.Names.Kind {
				continue
			}
			object, key := metadataOf(e.ref.GroupVersionKind), client.ObjectKey{Namespace: e.ref.Namespace, Name: e.ref.Name}
			err := k.live.Get(ctx, key, object)
			if client.IgnoreNotFound(err) != nil {
				return "", fmt.Errorf("read %s: %w", e.ref, err)
			}
			if err == nil && metav1.IsControlledBy(object, set) {
				own[key] = true
			}
		}
	}
	v, err := crd.Judge(ctx, crd.Change{Live: live, Own: own}, crd.Stored{Reader: k.live, Count: k.count})
	if k.worthWaiting(ctx, set, err) {
		return "", err
	}
	return v.Stored, nil
}

// worthWaiting reports whether the API server could not answer for now: what it has answered stays the same. A set that is deleted does not wait for
// ever.
func (e *environment) worthWaiting(ctx context.Context, set *olmv1.ClusterObjectSet, err error) bool {
	if err == nil || errors.Is(err, crd.ErrUnserved) {
		return false
	}
	mayPass := ctx.Err() != nil || reconcile.IsTransient(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
	return mayPass && (set.DeletionTimestamp == nil || e.clock.Now().Before(set.DeletionTimestamp.Add(operandTimeout)))
}
