package installplan

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// finding is what the names in a plan come to: bundles to install, and operators that are there already and in no catalog. Or it is a
// problem, with the reason that the condition Resolved gives for it.
type finding struct {
	choices []resolution.Choice
	present []*v1alpha1.ClusterServiceVersion
	problem string
	reason  v1alpha1.InstallPlanConditionReason
}

// unresolvable is a problem. Its text may hold words of catalogs, and have a line for each reason.
func unresolvable(reason v1alpha1.InstallPlanConditionReason, text string) finding {
	lines := strings.Split(text, "\n")
	for i, line := range lines[:min(len(lines), maxLines)] {
		lines[i] = messages.Line(line, maxProblem)
	}
	return finding{reason: reason, problem: strings.Join(lines[:min(len(lines), maxLines)], "\n")}
}

// maxProblem bounds a line of what a status says, in bytes, and maxLines how many there are.
const (
	maxProblem = 2048
	maxLines   = 16
)

// decide finds the bundles: those that the plan names, and providers of what they require that are not installed. Nothing else of the
// namespace changes.
func (s *survey) decide(ctx context.Context, spec *v1alpha1.InstallPlanSpec) (finding, error) {
	in, _ := s.Input()
	in.Subscriptions, in.Together = nil, false
	var found finding
	seen := map[string]bool{}
	for _, name := range spec.ClusterServiceVersionNames {
		if seen[name] {
			continue
		}
		seen[name] = true
		one, problem := s.seek(name, spec)
		switch {
		case problem != "":
			return unresolvable(v1alpha1.InstallPlanReasonPlanUnknown, problem), nil
		case one.bundle == nil:
			found.present = append(found.present, one.installed)
		case one.installed != nil: // again, because an earlier plan may have been interrupted
			found.choices = append(found.choices, resolution.Choice{Bundle: one.bundle, Catalog: one.source.Ref(), Replaces: one.installed.Spec.Replaces})
		default:
			// What the solver is asked for a name: this version and no other, in place of what is installed of the package.
			r := resolution.Subscription{Name: one.name, Package: one.bundle.Package, StartingCSV: one.name, Catalog: one.source.Ref()}
			for _, installed := range in.Operators {
				if installed.Package == one.bundle.Package {
					r.Installed = installed.Name
					r.VersionRange = "=" + one.bundle.Version.Version.String()
				}
			}
			in.Subscriptions = append(in.Subscriptions, r)
		}
	}
	if len(seen) == 0 {
		return unresolvable(v1alpha1.InstallPlanReasonPlanUnknown, "spec.clusterServiceVersionNames is empty: name the ClusterServiceVersions to install"), nil
	}
	return s.solve(ctx, in, found)
}

// solve lets the solver find providers and upgrades.
func (s *survey) solve(ctx context.Context, in resolution.NamespaceRequest, found finding) (finding, error) {
	if len(in.Subscriptions) == 0 {
		return found, nil
	}
	result, err := resolution.Namespace(ctx, in)
	if err != nil {
		return finding{}, fmt.Errorf("decide on what to install in namespace %s: %w", s.Name, err)
	}
	for _, g := range result.Groups {
		if g.Err != nil {
			return unresolvable(v1alpha1.InstallPlanReasonDependencyConflict, inWordsOfPlans(g.Err.Error(), in.Subscriptions)), nil
		}
		found.choices = append(found.choices, g.Choices...)
	}
	for _, r := range in.Subscriptions {
		if !slices.ContainsFunc(found.choices, func(c resolution.Choice) bool { return c.Bundle.Name == r.Name }) {
			return unresolvable(v1alpha1.InstallPlanReasonDependencyConflict, s.unreachable(result, r, in.Subscriptions)), nil
		}
	}
	return found, nil
}

// unreachable says why a version does not take the place of the one that is installed.
func (s *survey) unreachable(result resolution.NamespaceResult, r resolution.Subscription, all []resolution.Subscription) string {
	text := fmt.Sprintf("ClusterServiceVersion %s does not take the place of %s, which is installed of package %s", r.Name, r.Installed, r.Package)
	for _, g := range result.Groups {
		for _, h := range g.Held {
			if h.Subscription == r.Name && h.Conflict != nil {
				return text + ":\n" + inWordsOfPlans(h.Conflict.Error(), all)
			}
		}
	}
	if csv := s.Operator(r.Installed); csv != nil && csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
		return fmt.Sprintf("%s: that is %s, and only what has Succeeded is replaced", text, cmp.Or(csv.Status.Phase, "new"))
	}
	return fmt.Sprintf("%s: no upgrade edge of catalog %s leads there; name a version that replaces or skips %s, or delete ClusterServiceVersion %s first",
		text, r.Catalog, r.Installed, r.Installed)
}

// inWordsOfPlans tells a conflict without Subscriptions, of which a plan has none.
func inWordsOfPlans(text string, requests []resolution.Subscription) string {
	for _, r := range requests {
		name := regexp.QuoteMeta(r.Name)
		text = regexp.MustCompile(`[Ss]ubscriptions? `+name).ReplaceAllString(text, "the InstallPlan's "+strings.ReplaceAll(r.Name, "$", "$$"))
	}
	return strings.NewReplacer(
		"spec.startingCSV", "spec.clusterServiceVersionNames",
		" and is not referenced by a subscription", "",
		"create a Subscription to its package from a catalog that has it", "do without what the InstallPlan names",
	).Replace(text)
}
