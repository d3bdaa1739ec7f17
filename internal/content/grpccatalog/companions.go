package grpccatalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collectionWait is how long to wait for objects to go that belong to an earlier catalog of the same name.
const collectionWait = 5 * time.Second

// ensureCompanions brings about everything but the pod, and returns the service account that the pod runs as.
func (k *Keeper) ensureCompanions(ctx context.Context, source *v1alpha1.CatalogSource, o *Objects, out *Outcome) (*corev1.ServiceAccount, error) {
	account := &corev1.ServiceAccount{}
	err := k.Reader.Get(ctx, client.ObjectKeyFromObject(o.ServiceAccount), account)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read ServiceAccount %s/%s: %w", source.Namespace, o.ServiceAccount.Name, err)
	}
	claim := &claim{source: source}
	phase := rollout.Phase{Name: "catalog"}
	for _, wanted := range o.companions() {
		object, err := k.object(source, wanted, claim)
		if err != nil {
			return nil, err
		}
		if wanted == client.Object(o.ServiceAccount) && account.UID != "" && !owns(source, account) {
			object.Policy = rollout.CreateOnly // a user prepared it for the catalog: it is used as it is
		}
		phase.Objects = append(phase.Objects, object)
	}
	engine := rollout.Engine{Client: k.Client, Reader: k.Reader, FieldManager: k.FieldOwner}
	result := engine.Apply(ctx, []rollout.Phase{phase})
	if claim.earlier != "" {
		out.Waiting, out.Again = claim.earlier, collectionWait
		return nil, nil
	}
	if err := result.Err(); err != nil {
		return nil, failed(source, err)
	}
	return k.finish(ctx, o, result.Phases[0].Objects, out)
}

// object is one companion and the rules for it.
func (k *Keeper) object(source *v1alpha1.CatalogSource, wanted client.Object, claim *claim) (rollout.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return rollout.Object{}, failed(source, err)
	}
	object := rollout.Object{
		Wanted: &unstructured.Unstructured{Object: content},
		Owner:  kindCatalogSource + " " + source.Name,
		Claim:  claim.on,
	}
	if account, is := wanted.(*corev1.ServiceAccount); is {
		// Keep the pull secrets of others on the list
		object.Adjust = func(wanted, live *unstructured.Unstructured) error {
			if live == nil {
				return nil
			}
			var there corev1.ServiceAccount
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &there); err != nil {
				return fmt.Errorf("understand ServiceAccount %s/%s: %w", live.GetNamespace(), live.GetName(), err)
			}
			merged := account.DeepCopy()
			// Add the pull secrets that others put on the live service account: the list has one owner, and taking it away from the controller
			// of a registry would lead to both writing it for ever.
			brought := strings.Split(there.Annotations[PullSecretsAnnotation], ",")
			for _, secret := range there.ImagePullSecrets {
				if !slices.Contains(brought, secret.Name) {
					merged.ImagePullSecrets = addSecret(merged.ImagePullSecrets, secret.Name)
				}
			}
			var list []any
			for _, s := range merged.ImagePullSecrets {
				list = append(list, map[string]any{"name": s.Name})
			}
			if list == nil {
				return nil
			}
			return unstructured.SetNestedSlice(wanted.Object, list, "imagePullSecrets")
		}
	}
	return object, nil
}

// finish reads the results, and undoes what others added to policies: a field that is not wanted at all belongs to no one, so that
// applying the wanted ones leaves it.
func (k *Keeper) finish(ctx context.Context, o *Objects, results []rollout.ObjectResult, out *Outcome) (*corev1.ServiceAccount, error) {
	account := &corev1.ServiceAccount{}
	for i, wanted := range o.companions() {
		r := results[i]
		switch r.Outcome {
		case rollout.Created:
			out.Changes = append(out.Changes, fmt.Sprintf("created %s", r.Ref))
		case rollout.Configured:
			out.Changes = append(out.Changes, fmt.Sprintf("configured %s", r.Ref))
		case rollout.NotAttempted:
			out.Waiting, out.Again = cmp.Or(r.Waiting, out.Waiting, "the objects of the catalog are being written"), collectionWait
			continue
		}
		switch wanted := wanted.(type) {
		case *corev1.ServiceAccount:
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.Live.Object, account); err != nil {
				return nil, fmt.Errorf("understand %s: %w", r.Ref, err)
			}
		case *networkingv1.NetworkPolicy:
			live := &networkingv1.NetworkPolicy{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(r.Live.Object, live); err != nil {
				return nil, fmt.Errorf("understand %s: %w", r.Ref, err)
			}
			if equality.Semantic.DeepEqual(live.Spec, wanted.Spec) {
				continue
			}
			live.Spec = wanted.Spec
			if err := k.Client.Update(ctx, live, client.FieldOwner(k.FieldOwner)); err != nil {
				return nil, fmt.Errorf("undo what others changed in %s: %w", r.Ref, err)
			}
			out.Changes = append(out.Changes, fmt.Sprintf("restored %s", r.Ref))
		}
	}
	return account, nil
}

// claim tells the objects of the catalog from those of others.
type claim struct {
	source  *v1alpha1.CatalogSource
	mu      sync.Mutex // objects are judged at once
	earlier string     // names an object that belongs to an earlier catalog of the same name: the first of them, in whatever order they are judged
}

func (c *claim) on(live *unstructured.Unstructured) string {
	isEarlier := func(h rollout.Holder) bool { return h.Kind == kindCatalogSource && h.Name == c.source.Name }
	holders := slices.DeleteFunc(rollout.References(live), func(h rollout.Holder) bool {
		return h.UID != c.source.UID && !isEarlier(h) && (h.Controller == nil || !*h.Controller)
	})
	rules := rollout.ClaimRules{Shared: true, Relate: func(h rollout.Holder) (rollout.Relation, string) {
		switch {
		case h.UID == c.source.UID:
			return rollout.Own, ""
		case !isEarlier(h):
			return rollout.Foreign, rollout.ControlledBy(h)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		found := fmt.Sprintf("%s belongs to an earlier CatalogSource %s, and is about to be collected as garbage", rollout.RefOf(live), h.Name)
		if c.earlier == "" || found < c.earlier {
			c.earlier = found // the one that is named must not change from pass to pass: each change is a write
		}
		return rollout.Foreign, "belongs to an earlier one of the same name"
	}, Unowned: func(metav1.Object) string { return "exists already, and nothing says that it belongs to that" }}
	return rules.Judge(live, holders).Reason
}
