package clusterserviceversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// crdConflict looks for another CSV of the namespace, outside the chain of replacements, that owns a CRD of this one and comes
// before it. The other one does not look at this one then, and goes on being healed.
func (f *facts) crdConflict(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	for _, owned := range f.csv.Spec.CustomResourceDefinitions.Owned {
		for _, other := range f.siblings {
			if other.Name != f.csv.Name && other.DeletionTimestamp.IsZero() && other.OwnsCRD(owned.Name) && !chain.related(other.Name, f.csv.Name) && precedes(other, f.csv) {
				return seen(fmt.Sprintf("ClusterServiceVersion %s owns CRD %s too; delete one of the two, or let one replace the other", other.Name, owned.Name)), nil
			}
		}
	}
	return seenNot, nil
}

// precedes says which of two CSVs that own the same is to have it: the one that is installed, so that nobody who comes takes
// it away; else the one that was created first. One that was refused for such a reason has nothing.
func precedes(a, b *v1alpha1.ClusterServiceVersion) bool {
	if refusedOwnership(a) {
		return false
	}
	return cmp.Or(boolean(wasInstalled(b))-boolean(wasInstalled(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

func refusedOwnership(csv *v1alpha1.ClusterServiceVersion) bool {
	return csv.Status.Phase == toFailed && csv.Status.Reason == v1alpha1.CSVReasonOwnerConflict
}

// wasInstalled says whether the install of a CSV has begun at some time, and nothing has refused it since.
func wasInstalled(csv *v1alpha1.ClusterServiceVersion) bool {
	return !refusedOwnership(csv) && (installs(csv) || slices.ContainsFunc(csv.Status.Conditions, func(c v1alpha1.ClusterServiceVersionCondition) bool {
		return slices.Contains(installedPhases, c.Phase)
	}))
}

// installs says whether a CSV is being installed, or is.
func installs(csv *v1alpha1.ClusterServiceVersion) bool {
	return slices.Contains(installedPhases, csv.Status.Phase)
}

// installedPhases are those that a CSV comes to only by its install.
var installedPhases = in(toInstallReady, toInstalling, toSucceeded, toReplacing, toDeleting)

// deploymentsForeign looks for a Deployment of this CSV that is one of another CSV already, outside the chain of replacements.
// Each of the two would take it from the other for ever.
func (f *facts) deploymentsForeign(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	return f.firstWanted(ctx, func(live *appsv1.Deployment) string {
		owner, ok := ownerOf(live)
		if !ok || owner.Namespace != f.csv.Namespace || f.yields(chain, owner.Name) {
			return ""
		}
		return fmt.Sprintf("Deployment %s is one of ClusterServiceVersion %s; delete one of the two, or let one replace the other", live.Name, owner.Name)
	})
}

// firstWanted looks for the first Deployment that is there under the name of one of the strategy and has something wrong.
func (f *facts) firstWanted(ctx context.Context, judge func(live *appsv1.Deployment) string) (finding, error) {
	for _, d := range f.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		live, err := f.readDeployment(ctx, d.Name)
		if err != nil {
			return seenNot, err
		}
		if live == nil {
			continue
		}
		if detail := judge(live); detail != "" {
			return seen(detail), nil
		}
	}
	return seenNot, nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
