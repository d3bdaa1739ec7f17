package copiedcsv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// reporter reconciles the OLMConfig: it reports whether copying is disabled and whether the copies are as they should be,
// and tells about operators that are not copied in an Event on them.
type reporter struct {
	c     *Controller
	clock clock.PassiveClock
	// told are the operators that an Event of this process is about.
	told    map[types.NamespacedName]bool
	written reconcile.StatusMemory[v1.OLMConfigStatus]
	// unfinished is since when copies have been missing or surplus, and generation of which OLMConfig; zero while all is as it should be.
	unfinished time.Time
	generation int64
}

// patience is how long the manager has to make or remove copies before it is reported that some are left. Within that time a change of the OLMConfig is one
// write of its status.
const patience = 10 * time.Second

// again is how often it is reported at most which copy is left, while some are.
const again = time.Minute

// Reconcile checks all operators that watch all namespaces. Those of other groups are copied whatever the OLMConfig says.
func (r *reporter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	request.NamespacedName = types.NamespacedName{Name: v1.OLMConfigName} // whatever the event is about
	return reconcile.Typed[*v1.OLMConfig]{Client: r.c.client, Step: r.pass, Deleting: r.pass, Resources: watched}.Reconcile(ctx, request)
}

func (r *reporter) pass(ctx context.Context, config *v1.OLMConfig) (ctrl.Result, error) {
	operators, err := r.global(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	found, err := r.inspect(ctx, config, operators)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.tellAll(ctx, config, operators); err != nil {
		return ctrl.Result{}, err
	}
	condition := found.condition(config)
	if wait := r.postponed(config, found, condition); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	return ctrl.Result{}, r.write(ctx, config, condition)
}

// postponed is how long to wait before it is written that copies are left: they may be on their way, and each one is an event that brings the OLMConfig here.
func (r *reporter) postponed(config *v1.OLMConfig, found findings, condition metav1.Condition) time.Duration {
	if found == (findings{}) {
		r.unfinished = time.Time{}
		return 0
	}
	now := r.clock.Now()
	if r.unfinished.IsZero() || r.generation != config.Generation {
		r.unfinished, r.generation = now, config.Generation
	}
	last := meta.FindStatusCondition(config.Status.Conditions, condition.Type)
	reported := last != nil && last.Status == condition.Status && last.Reason == condition.Reason && last.ObservedGeneration == condition.ObservedGeneration && strings.Contains(last.Message, "at least one")
	if !reported {
		return patience - now.Sub(r.unfinished)
	}
	if last.Message == condition.Message {
		return 0
	}
	// Which copy is left changes with each that is made. The time of the transition does not, so that of the last write is remembered.
	wait := again - now.Sub(r.unfinished)
	if wait <= 0 {
		r.unfinished = now
	}
	return wait
}

// global are the operators whose group targets all namespaces.
func (r *reporter) global(ctx context.Context) ([]*v1alpha1.ClusterServiceVersion, error) {
	var groups v1.OperatorGroupList
	if err := r.c.client.List(ctx, &groups, client.MatchingFields{indexByTarget: metav1.NamespaceAll}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups that target all namespaces: %w", err)
	}
	var out []*v1alpha1.ClusterServiceVersion
	for i := range groups.Items {
		namespace := groups.Items[i].Namespace
		if !r.c.watches(namespace) {
			continue
		}
		siblings, err := r.c.groupsIn(ctx, namespace)
		if err != nil {
			return nil, err
		}
		var list v1alpha1.ClusterServiceVersionList
		if err := r.c.client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the ClusterServiceVersions of namespace %s: %w", namespace, err)
		}
		for j := range list.Items {
			// Where copying is enabled, the operator is copied to namespaces other than its own, whatever these are called.
			if (policy{}).stand(&list.Items[j], siblings, namespace+"-") == desired {
				out = append(out, &list.Items[j])
			}
		}
	}
	return out, nil
}

// findings are an example of a copy that is missing, and one of a copy that should not be there; empty when there is none.
type findings struct{ missing, surplus string }

func (r *reporter) inspect(ctx context.Context, config *v1.OLMConfig, operators []*v1alpha1.ClusterServiceVersion) (findings, error) {
	var out findings
	disabled := !config.CopiedCSVsEnabled()
	for _, csv := range operators {
		list := emptyCopyList()
		if err := r.c.copies.List(ctx, list, client.MatchingFields{indexBySource: client.ObjectKeyFromObject(csv).String()}, client.UnsafeDisableDeepCopy); err != nil {
			return out, fmt.Errorf("list the copies of ClusterServiceVersion %s/%s: %w", csv.Namespace, csv.Name, err)
		}
		present := map[string]bool{}
		for i := range list.Items {
			namespace := list.Items[i].Namespace
			present[namespace] = true
			if disabled && !slices.Contains(r.c.limits.protected, namespace) {
				out.surplus = first(out.surplus, namespace+"/"+csv.Name)
			}
		}
		if disabled {
			continue
		}
		var errs []error
		r.c.eachNamespace(ctx, func(namespace string) {
			if namespace == csv.Namespace || present[namespace] {
				return
			}
			key := types.NamespacedName{Namespace: namespace, Name: csv.Name}
			taken, err := r.c.taken(ctx, key)
			if err == nil && !taken {
				taken, err = r.servesAnother(ctx, key, csv.Namespace)
			}
			if errs = append(errs, err); !taken {
				out.missing = first(out.missing, key.String())
			}
		})
		if err := errors.Join(errs...); err != nil {
			return out, err
		}
	}
	return out, nil
}

// first is the one of two names that comes first; an empty one does not count. The order in which caches list objects changes.
func first(a, b string) string {
	if a == "" || b < a {
		return b
	}
	return a
}

// servesAnother reports whether a namespace has a copy of the name that belongs to an operator of another namespace, which has to be there: a namespace has
// one ClusterServiceVersion of a name.
func (r *reporter) servesAnother(ctx context.Context, key types.NamespacedName, namespace string) (bool, error) {
	live := emptyCopy()
	if err := r.c.copies.Get(ctx, key, live); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	from := origin(live)
	if from == "" || from == namespace {
		return false, nil
	}
	if !r.c.watches(from) {
		return true, nil // its source is in the hands of another manager
	}
	err := r.c.client.Get(ctx, types.NamespacedName{Namespace: from, Name: key.Name}, &v1alpha1.ClusterServiceVersion{})
	return err == nil, client.IgnoreNotFound(err)
}

// condition is what the findings come to.
func (f findings) condition(config *v1.OLMConfig) metav1.Condition {
	out := metav1.Condition{Type: v1.OLMConfigDisabledCopiedCSVs, Status: metav1.ConditionFalse, Reason: v1.OLMConfigReasonCopiedCSVsEnabled, ObservedGeneration: config.Generation}
	switch {
	case config.CopiedCSVsEnabled() && f.missing == "":
		out.Message = "Copied CSVs are enabled and present across the cluster"
	case config.CopiedCSVsEnabled():
		out.Message = "Copied CSVs are enabled and at least one copied CSV is missing: " + f.missing
	case f.surplus == "":
		out.Status, out.Reason, out.Message = metav1.ConditionTrue, v1.OLMConfigReasonCopiedCSVsDisabled, "Copied CSVs are disabled and no unexpected copied CSVs were found for operators that watch all namespaces"
	default:
		out.Reason, out.Message = v1.OLMConfigReasonCopiedCSVsDisabled, "Copied CSVs are disabled and at least one unexpected copied CSV was found: "+f.surplus
	}
	return out
}

// write puts the condition into the status, if it changes.
func (r *reporter) write(ctx context.Context, config *v1.OLMConfig, condition metav1.Condition) error {
	w := reconcile.StatusWriter[*v1.OLMConfig, v1.OLMConfigStatus]{Client: r.c.client, Owner: fieldManager, Memory: &r.written, Optimistic: true,
		Status: func(config *v1.OLMConfig) *v1.OLMConfigStatus { return &config.Status },
		States: func(s *v1.OLMConfigStatus) []reconcile.State { return reconcile.Conditions(s.Conditions) }}
	next := w.Latest(config).Status.DeepCopy()
	condition.LastTransitionTime = metav1.NewTime(r.clock.Now()).Rfc3339Copy()
	meta.SetStatusCondition(&next.Conditions, condition)
	_, err := w.Write(ctx, config, *next)
	return err
}
