package clusterserviceversion

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// driftedMeanwhile looks whether somebody changed what the strategy of a CSV on its way out had set, as long as it is the one
// that runs: its successors, which may wait for their requirements for long, have not begun their install, nor taken anything
// over. Where the install of one was refused, what is there is healed, and what is gone is left to that one.
func (f *facts) driftedMeanwhile(ctx context.Context) (finding, error) {
	if kept, err := f.keptMeanwhile(ctx); err != nil || !kept || f.healed {
		return seenNot, err
	}
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	began := successorBegan(chain, f.csv)
	if began && !successorRefused(chain, f.csv) {
		return seenNot, nil
	}
	changes, err := f.changes(ctx)
	if isOurRefusal(err) || len(changes) == 0 && err == nil {
		return seenNot, nil // what cannot be worked out cannot be healed either
	}
	if err != nil {
		return seenNot, err
	}
	for _, c := range changes {
		if began && (c.apply == nil || c.unseen) {
			return seenNot, nil
		}
		if c.apply == nil {
			continue
		}
		live := emptyLike(c.apply)
		if err := f.c.readerFor(c.apply.GetNamespace()).Get(ctx, client.ObjectKeyFromObject(c.apply), live); client.IgnoreNotFound(err) != nil {
			return seenNot, fmt.Errorf("read %s %s: %w", kindOf(c.apply), client.ObjectKeyFromObject(c.apply), err)
		}
		if owner, ok := ownerOf(live); ok && owner != key(f.csv.Namespace, f.csv.Name) {
			return seenNot, nil // taken over, although the status of the successor does not show it yet
		}
	}
	return seen(changes[0].String()), nil
}

// keptMeanwhile reports whether a CSV that is being replaced could still be installed: what refuses an install also refuses to correct drift. The
// rows about the OperatorGroup and the strategy are not asked, because the status of such a CSV no longer reports them.
func (f *facts) keptMeanwhile(ctx context.Context) (bool, error) {
	if group, err := f.group(ctx); err != nil || group == nil {
		return false, err
	}
	for _, refuses := range []func(context.Context) (finding, error){f.requirementsInvalid, f.apiServicesForeign} {
		if found, err := refuses(ctx); err != nil || found.holds {
			return false, err
		}
	}
	return true, nil
}

// successorBegan says whether the install of one of the CSVs that replace this one, over any number of steps, has begun.
func successorBegan(chain *chain, csv *v1alpha1.ClusterServiceVersion) bool {
	for next := chain.successor(csv.Name); next != nil; next = chain.successor(next.Name) {
		if wasInstalled(next) {
			return true
		}
	}
	return false
}

// successorRefused says whether the install of each of them that has begun was refused, until somebody changes something.
func successorRefused(chain *chain, csv *v1alpha1.ClusterServiceVersion) bool {
	for next := chain.successor(csv.Name); next != nil; next = chain.successor(next.Name) {
		if wasInstalled(next) && (next.Status.Phase != toFailed || next.Status.Reason != v1alpha1.CSVReasonComponentFailedNoRetry) {
			return false
		}
	}
	return true
}

// meanwhile is what the status says of a CSV on its way out that is not healthy.
const meanwhile = ", which has not begun its install; meanwhile this one is not healthy: "

// unhealthyMeanwhile looks whether a CSV on its way out does not run well, while it is the one that runs.
func (f *facts) unhealthyMeanwhile(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	next := chain.successor(f.csv.Name)
	if next == nil || successorBegan(chain, f.csv) {
		return seenNot, nil
	}
	found, err := f.firstDeployment(ctx, func(csv *v1alpha1.ClusterServiceVersion, wanted, live *appsv1.Deployment) string {
		if live != nil && !ownedBy(live, csv) {
			return "" // taken over, although the status of the successor does not show it yet
		}
		return f.unready(ctx, wanted, live)
	})
	if isOurRefusal(err) || err == nil && !found.holds {
		return seenNot, nil
	}
	return seen(next.Name + meanwhile + found.detail), err
}

// healthyMeanwhile looks whether the status says what was so before.
func (f *facts) healthyMeanwhile(ctx context.Context) (finding, error) {
	if !strings.Contains(f.csv.Status.Message, meanwhile) {
		return seenNot, nil
	}
	return f.replaced(ctx)
}

// driftedUnsettled looks whether somebody changed what the strategy had set while the OperatorGroup has yet to select its
// target namespaces or to list the APIs of the CSV. What runs goes on running meanwhile, which may take long: until somebody
// corrects the group.
func (f *facts) driftedUnsettled(ctx context.Context) (finding, error) {
	for _, waits := range []func(*facts, context.Context) (finding, error){(*facts).groupUnsynced, (*facts).apisUnlisted} {
		found, err := waits(f, ctx)
		if err != nil {
			return seenNot, err
		}
		if !found.holds {
			continue
		}
		drift, err := f.drifted(ctx)
		if isOurRefusal(err) {
			return seenNot, nil
		}
		return drift, err
	}
	return seenNot, nil
}
