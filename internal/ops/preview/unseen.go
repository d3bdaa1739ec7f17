package preview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// unseen are the catalogs whose objects the user may not read, as a user of one namespace may not read those of the global one. What they offer
// is in PackageManifests, without what a decision needs: which version upgrades which, and what it requires. So what is decided for a Subscription
// of such a catalog is taken from where the manager writes it.
type unseen struct {
	catalogs []catalog.Ref
	// packages are those of the PackageManifests, of all catalogs in view.
	packages []*Package
	// why is what is said of them: who may not read them.
	why string
}

// readUnseen notes that the CatalogSources of a namespace cannot be listed, and which there are, as far as PackageManifests and Subscriptions tell.
func (c Cluster) readUnseen(ctx context.Context, q *Question, namespace string, refused error) error {
	q.Notes = append(q.Notes, messages.Unseen(refused, "CatalogSources of namespace "+namespace,
		"packages come from PackageManifests, and what is decided from what the manager has written"))
	q.unseen.why = messages.Unseen(refused, "its CatalogSource", "what it has is not known from here")
	packages, _, err := BrowseCluster{Reader: c.Reader, Namespace: q.Namespace}.manifests(ctx, "")
	if err != nil && !apierrors.IsForbidden(err) && !rollout.IsUnknownKind(err) && !apierrors.IsServiceUnavailable(err) {
		return err
	}
	if err != nil {
		q.Notes = append(q.Notes, "what catalogs offer is not known: "+err.Error())
	}
	q.unseen.packages = packages.Packages
	// The manager may have another global namespace than the one that was asked for: PackageManifests and Subscriptions tell.
	add := func(from, name string) {
		if ref := (catalog.Ref{Namespace: from, Name: name}); from != q.Namespace && !slices.Contains(q.unseen.catalogs, ref) {
			q.unseen.catalogs = append(q.unseen.catalogs, ref)
		}
	}
	for _, p := range q.unseen.packages {
		from, name, _ := strings.Cut(p.Catalog, "/")
		add(from, name)
	}
	for _, sub := range q.Objects.Subscriptions {
		if sub.Spec != nil {
			add(sub.Spec.CatalogSourceNamespace, sub.Spec.CatalogSource)
		}
	}
	slices.SortFunc(q.unseen.catalogs, catalog.Ref.Compare)
	return nil
}

// without are those that the question does not name with --catalog.
func (u unseen) without(q *Question, n *snapshot.Namespace) unseen {
	u.catalogs = slices.DeleteFunc(slices.Clone(u.catalogs), func(ref catalog.Ref) bool {
		return slices.ContainsFunc(q.Catalogs, func(c Catalog) bool { return q.place(c.Ref, n) == ref })
	})
	return u
}

// sources are the catalogs, as those that cannot be read.
func (u unseen) sources() []snapshot.Source {
	var all []snapshot.Source
	for _, ref := range u.catalogs {
		var s snapshot.Source
		s.Object.Namespace, s.Object.Name = ref.Namespace, ref.Name
		s.Served.Problem = u.why
		s.Served.Remedy = fmt.Sprintf("name its content with --catalog %s=DIR|IMAGE, or ask someone who may read the CatalogSources of namespace %s", ref, ref.Namespace)
		all = append(all, s)
	}
	return all
}

// has reports whether the catalog of a Subscription is one of them; one without a spec has none.
func (u unseen) has(sub *v1alpha1.Subscription) bool {
	return sub.Spec != nil && slices.Contains(u.catalogs, catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource})
}

// of is what a PackageManifest says of the package of a Subscription; nil where there is none.
func (u unseen) of(sub *v1alpha1.Subscription) *Package {
	for _, p := range u.packages {
		if p.Name == sub.Spec.Package && p.Catalog == sub.Spec.CatalogSourceNamespace+"/"+sub.Spec.CatalogSource {
			return p
		}
	}
	return nil
}

// written is the Subscription of an unseen catalog that a name means: its own, that of its package, or of its operator; nil when there is none.
func (p *Preview) written(name string) *v1alpha1.Subscription {
	for _, is := range []func(*v1alpha1.Subscription) bool{
		func(s *v1alpha1.Subscription) bool { return s.Name == name },
		func(s *v1alpha1.Subscription) bool { return s.Spec.Package == name },
		func(s *v1alpha1.Subscription) bool {
			return s.Status.InstalledCSV == name || s.Status.CurrentCSV == name
		},
	} {
		for i := range p.observed.Subscriptions {
			if sub := &p.observed.Subscriptions[i]; p.unseen.has(sub) && is(sub) { // those without a spec are of no catalog
				return sub
			}
		}
	}
	return nil
}

// writtenTrouble is why a Subscription is not as it asks to be, as its status says; empty where it is.
func writtenTrouble(sub *v1alpha1.Subscription) string {
	switch ready := sub.Status.GetCondition("Ready"); {
	case ready.Message == "" && ready.Status != "True":
		return "the manager has not reconciled it yet; is it running?"
	case ready.Status != "True":
		return ready.Message
	}
	return ""
}

// next is what takes the place of what a Subscription has; empty when nothing does, as far as its status says.
func next(sub *v1alpha1.Subscription) string {
	if sub.Status.CurrentCSV == sub.Status.InstalledCSV {
		return ""
	}
	return sub.Status.CurrentCSV
}

// writtenWhy is Why for the Subscription of an unseen catalog; nil where that is not what is asked.
func (p *Preview) writtenWhy(name string) *Why {
	sub := p.written(name)
	if sub == nil {
		return nil
	}
	w := &Why{Operator: sub.Status.InstalledCSV, State: StateAbsent, Because: []resolution.Because{}}
	switch to := next(sub); {
	case w.Operator == "" && to == "":
		w.Operator = name
	case w.Operator == "":
		w.Operator, w.State = to, StateChosen
		w.Install = &resolution.Install{Name: to, Package: sub.Spec.Package, Channel: sub.Spec.Channel, For: resolution.ForSubscription,
			Catalog: sub.Spec.CatalogSourceNamespace + "/" + sub.Spec.CatalogSource}
	case to != "":
		w.State, w.ReplacedBy = StateReplaced, to
	default:
		w.State = StateInstalled
	}
	channel := "any channel"
	if sub.Spec.Channel != "" {
		channel = "channel " + sub.Spec.Channel
	}
	w.Because = append(w.Because, resolution.Because{Asker: "subscription " + sub.Name,
		Need: fmt.Sprintf("subscription %s requires package %s, %s, from catalog %s/%s", sub.Name, sub.Spec.Package, channel, sub.Spec.CatalogSourceNamespace, sub.Spec.CatalogSource)})
	if trouble := writtenTrouble(sub); trouble != "" {
		w.Headline = "Subscription " + sub.Name + ": " + messages.Clean(trouble)
	}
	if w.State == StateAbsent {
		w.Advice = "what the manager decided is in the status of Subscription " + sub.Name
	}
	w.Remedies = p.remedies(sub.Name)
	return w
}

// writtenStandings puts what PackageManifests and status say into the place of what could not be decided.
func (p *Preview) writtenStandings(all []resolution.SubscriptionStanding) []resolution.SubscriptionStanding {
	for i := range all {
		s := &all[i]
		sub := p.observed.Subscription(s.Subscription)
		if !p.unseen.has(sub) {
			continue
		}
		s.Standing = resolution.Standing{Package: sub.Spec.Package, Installed: sub.Status.InstalledCSV, Next: next(sub), HeldBy: writtenTrouble(sub)}
		offered := p.unseen.of(sub)
		if offered == nil {
			continue
		}
		for _, c := range offered.Channels {
			if c.Name == sub.Spec.Channel || sub.Spec.Channel == "" && c.Name == offered.DefaultChannel {
				s.Head = c.Head
			}
		}
		for j := range offered.Versions {
			if v := &offered.Versions[j]; v.Name == s.Installed {
				s.Support = v.Support
			}
		}
		if len(offered.Versions) > 0 {
			s.Newest, s.NewestIn = offered.Versions[0].Name, offered.Catalog
		}
	}
	return all
}

// writtenPlan fills in what comes next for the Subscription of an unseen catalog, as its status says, and reports whether it is one.
func (p *Preview) writtenPlan(plan *SubscriptionPlan, name string) bool {
	sub := p.observed.Subscription(name)
	if !p.unseen.has(sub) {
		return false
	}
	if _, idle := p.idle[name]; idle {
		return false
	}
	plan.Manual = sub.InstallPlanApproval() == v1alpha1.ApprovalManual
	ref := catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource}
	plan.unseen = fmt.Sprintf("%s; name its content with --catalog %s=DIR|IMAGE", p.unseen.why, ref)
	plan.Problem = writtenTrouble(sub)
	if offered := p.unseen.of(sub); plan.Problem == "" && offered != nil && len(offered.Versions) > 0 && offered.Versions[0].Name != sub.Status.InstalledCSV {
		plan.Notes = append(plan.Notes, fmt.Sprintf("the newest version in catalog %s is %s: the manager has found no way to it", offered.Catalog, offered.Versions[0].Name))
	}
	return true
}

// writtenWhyNot has a verdict on each version of a package that PackageManifests show, as far as they and status tell.
func (p *Preview) writtenWhyNot(pkg, version string) []Verdict {
	var all []Verdict
	for _, offered := range p.unseen.packages {
		from, name, _ := strings.Cut(offered.Catalog, "/")
		if offered.Name != pkg || !slices.Contains(p.unseen.catalogs, catalog.Ref{Namespace: from, Name: name}) {
			continue
		}
		sub := p.written(pkg)
		for i := range offered.Versions {
			v := &offered.Versions[i]
			if version != "" && v.Version != version && v.Name != version {
				continue
			}
			told := Verdict{Channels: v.Channels}
			told.Name, told.Package, told.Version, told.Catalog, told.Channel = v.Name, pkg, v.Version, offered.Catalog, strings.Join(v.Channels[:min(1, len(v.Channels))], "")
			switch {
			case sub == nil:
				told.Reasons = []string{"no Subscription of the namespace asks for package " + pkg}
				told.Advice = "to have it: fairlead install " + Quoted(pkg) + " -n " + Quoted(p.observed.Name)
			case sub.Status.InstalledCSV == v.Name:
				told.Installed, told.Reasons = true, []string{"Subscription " + sub.Name + " has it"}
			case next(sub) == v.Name:
				told.Chosen, told.Reasons = true, []string{"Subscription " + sub.Name + " gets it"}
			default:
				told.Reasons = []string{"the manager has not chosen it for Subscription " + sub.Name + ": which rule decided is in catalogs that cannot be read from here"}
				if sub.Spec.Channel != "" && !slices.Contains(v.Channels, sub.Spec.Channel) {
					told.Reasons = []string{"Subscription " + sub.Name + " follows channel " + sub.Spec.Channel + ", and it is in " + strings.Join(v.Channels, ", ")}
				} else if trouble := writtenTrouble(sub); trouble != "" {
					told.Reasons = append(told.Reasons, messages.Clean(trouble))
				}
			}
			all = append(all, told)
		}
	}
	return all
}
