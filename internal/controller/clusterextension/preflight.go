package clusterextension

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// minPause is the least time between two attempts at something that failed.
	minPause = time.Second
	// recheck is when what is in the way is checked again, besides whenever an event suggests it.
	recheck = time.Minute
)

// preflight makes the checks that come before a revision.
type preflight struct{ *environment }

// checks are those that come before a revision is written.
func (p *preflight) checks() revision.Preflight {
	return revision.Preflight{Client: p.client, Live: p.live, Count: p.count, Policies: p.Policies, Backs: p.backs}
}

// preflight makes the checks that come before anything is written, and returns what they refuse.
func (p *preflight) check(ctx context.Context, s *state, change revision.Change, o *outcome) error {
	crds := func() error { // upgrades of CustomResourceDefinitions that could break stored objects
		all, err := p.checks().Definitions(ctx, change)
		if err != nil {
			return err
		}
		problem := revision.Unsafe(all)
		if problem == nil || change.Repeated {
			return s.staysFailed(problem, change)
		}
		reports := map[string]string{}
		for _, d := range all {
			if d.Err != nil {
				reports[d.Name] = crd.Report(d.Name, d.Findings)
			}
		}
		where, err := p.writeReport(ctx, change.Extension, reports)
		if err != nil {
			return errors.Join(problem, err)
		}
		return fmt.Errorf("%w\n%s has all findings, with what to do about each; to upgrade nevertheless, exempt checks with annotation %s, or set "+
			"spec.install.preflight.crdUpgradeSafety.enforcement to None", problem, where, revision.ExemptionsKey)
	}
	rest := []func() error{
		func() error {
			// Content without a CustomResourceDefinition that active revisions have is refused: they would take it, and all custom resources,
			// with them.
			dropped, err := p.checks().Dropped(ctx, change)
			if err != nil {
				return err
			}
			return s.staysFailed(revision.DroppedError(dropped), change)
		},
		func() error {
			if err := p.checks().Account(ctx, change); err != nil {
				return permissionProblem{err}
			}
			return nil
		},
		func() error { return p.checks().Increase(ctx, change) },
	}
	checks := append([]func() error{crds}, rest...)
	if change.Repeated { // the way back may need all custom resources to be read: that comes last, and is done when nothing else is in the way
		checks = append(rest, crds)
	}
	var problem error
	for i := 0; i < len(checks) && problem == nil; i++ {
		problem = checks[i]()
	}
	if problem != nil {
		o.soonest(recheck)
	}
	return problem
}

// permissionProblem is one that a change of roles and bindings may end.
type permissionProblem struct{ error }

// Unwrap returns what it is about.
func (p permissionProblem) Unwrap() error { return p.error }

// staysFailed adds to what blocks an automatic rollback that the failed revision stays.
func (s *state) staysFailed(err error, change revision.Change) error {
	if _, asked := s.ext.Annotations[desired.RollbackToKey]; err != nil && change.Repeated && !asked {
		return fmt.Errorf("%w\nso revision %s, whose rollout has failed, stays, and is not rolled back", err, s.revisions.Newest().Name)
	}
	return err
}

// maxReport bounds what a ConfigMap holds of one CRD, in bytes, and maxReports what it holds of all; a ConfigMap can have a MiB.
const (
	maxReport  = 200 << 10
	maxReports = 4 * maxReport
)

// reportData is what the ConfigMap holds: of each CRD all that there is room for, the same for the same findings.
func reportData(reports map[string]string) map[string]string {
	data := map[string]string{}
	left := maxReports
	for _, crd := range slices.SortedFunc(maps.Keys(reports), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(reports[a]), len(reports[b])), cmp.Compare(a, b)) // small ones have room in any case
	}) {
		text := reports[crd]
		most := min(maxReport, left)
		left -= min(len(text), most)
		data[crd] = messages.Bound(text, most)
	}
	return data
}

// writeReport keeps all findings in a ConfigMap that goes with the extension, and returns how to find it. It is written only when it says
// something new.
func (p *preflight) writeReport(ctx context.Context, ext *olmv1.ClusterExtension, reports map[string]string) (string, error) {
	wanted := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.SystemNamespace, Name: ext.Name + "-crd-upgrade-report",
			Labels:          map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(ext.Name)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ext, olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind))}},
		Data: reportData(reports),
	}
	where := fmt.Sprintf("ConfigMap %s/%s", wanted.Namespace, wanted.Name)
	there := &corev1.ConfigMap{}
	err := p.live.Get(ctx, client.ObjectKeyFromObject(wanted), there)
	switch {
	case apierrors.IsNotFound(err):
		err = p.client.Create(ctx, wanted, fieldOwner)
	case err == nil && there.Labels[olmv1.OwnerNameKey] != olmv1.LabelValue(ext.Name):
		err = errors.New("there is another one of this name: delete it")
	case err == nil && !maps.Equal(there.Data, wanted.Data):
		changed := there.DeepCopy()
		changed.Data = wanted.Data
		err = p.client.Patch(ctx, changed, client.MergeFrom(there), fieldOwner)
	}
	if err != nil {
		return "", fmt.Errorf("write the full report to %s: %w", where, err)
	}
	return where, nil
}
