package ops

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// otherDeployments are the Deployments of other lifecycle managers, with the API that each works on, and the signs of it besides its name.
var otherDeployments = map[string]struct{ api, repository, account string }{
	"olm-operator":                           {"v0", "olm", "olm-operator-serviceaccount"},
	"catalog-operator":                       {"v0", "olm", "olm-operator-serviceaccount"},
	"operator-controller-controller-manager": {"v1", "operator-controller", ""},
	"catalogd-controller-manager":            {"v1", "catalogd", ""},
}

// isOther reports whether a Deployment is one of another lifecycle manager. Its name alone does not say so: it is in one of the usual namespaces
// besides, runs the usual image, from whatever registry, or has the usual service account.
func isOther(d *appsv1.Deployment) bool {
	known, named := otherDeployments[d.Name]
	return named && (slices.Contains(otherNamespaces, d.Namespace) || known.account != "" && d.Spec.Template.Spec.ServiceAccountName == known.account ||
		slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
			image, _, _ := strings.Cut(c.Image, "@")
			repository, _, _ := strings.Cut(path.Base(image), ":")
			return repository == known.repository
		}))
}

// otherLeases are the leases of other lifecycle managers, which one that runs outside of the cluster has, too.
var otherLeases = map[string]string{"9c4404e7.operatorframework.io": "v1", "catalogd-operator-lock": "v1"}

// otherNamespaces are where other lifecycle managers are installed as a rule.
var otherNamespaces = []string{"olm", "operator-lifecycle-manager", "openshift-operator-lifecycle-manager", "olmv1-system", "openshift-operator-controller", "openshift-catalogd"}

const twoManagers = "both write the same objects: keep one; docs/migrating.md says how to go from the other implementation to this one. To stop it: "

// rivalExam examines which other managers work on the cluster.
type rivalExam struct{ *examiner }

// rival is another lifecycle manager that works, or is meant to.
type rival struct {
	// object is its Deployment or its lease, holder who has the lease.
	object, holder string
	api            string
	// stop is the command that stops it, and describe the one that shows why it does not run.
	stop, describe string
	// pods are those that its Deployment asks for, and available those that are; both 0 without a Deployment.
	pods, available int32
}

// rivals finds the other lifecycle managers, once. What could not be read is kept for the checks that use them.
func (e rivalExam) rivals(ctx context.Context) []rival {
	if e.rivalsRead != nil {
		return e.found
	}
	e.rivalsRead = &Check{}
	there := map[string]bool{} // namespaces with a Deployment
	for _, d := range e.others(ctx, e.rivalsRead) {
		there[d.Namespace] = true
		if replicas(&d) == 0 {
			continue
		}
		command := func(verb, flag string) string {
			return strings.TrimSpace(fmt.Sprintf("kubectl -n %s %s deployment %s %s", d.Namespace, verb, d.Name, flag))
		}
		e.found = append(e.found, rival{object: "Deployment " + client.ObjectKeyFromObject(&d).String(), api: otherDeployments[d.Name].api, pods: replicas(&d), available: d.Status.AvailableReplicas,
			stop: command("scale", "--replicas=0"), describe: command("describe", "")})
	}
	e.found = append(e.found, e.otherLeases(ctx, e.rivalsRead, there)...)
	return e.found
}

// into adds what a check has found to another.
func (c *Check) into(other *Check) {
	other.Findings = append(other.Findings, c.Findings...)
	other.Notes = append(other.Notes, c.Notes...)
	for _, what := range c.forbidden {
		other.forbid(what)
	}
}

// otherManagers finds managers that work on the same objects as the first one.
func (e rivalExam) otherManagers(ctx context.Context, c *Check) {
	rivals := e.rivals(ctx)
	if !e.foreign { // otherwise the check of the manager has it
		e.rivalsRead.into(c)
	}
	var names []string
	for _, r := range rivals {
		names = append(names, r.object)
		if !e.present() || !e.works(r.api) {
			continue
		}
		who := "another lifecycle manager"
		if r.holder != "" {
			who += ", " + r.holder + ","
		}
		c.fail(r.object, twoManagers+r.stop, "%s works on the %s API beside Fairlead's", who, r.api)
	}
	e.second(c)
	switch {
	case len(names) > 0 && e.present():
		c.Summary = strings.Join(names, ", ") + " beside Fairlead's"
	case len(names) > 0:
		c.Summary = strings.Join(names, ", ") + "; none of Fairlead's beside them"
	case e.present():
		c.Summary = "none beside Fairlead's"
	default:
		c.Summary = "none"
	}
}

// managedBy says what it means that other lifecycle managers work on the cluster, and Fairlead's does not.
func (e rivalExam) managedBy(c *Check, rivals []rival) {
	var names []string
	for _, r := range rivals {
		if r.pods > 0 && r.available == 0 {
			c.fail(r.object, "see why: "+r.describe, "this cluster is managed by it (%s API), and it does not run: 0 of %d pods are available", r.api, r.pods)
		}
		name := r.object
		if r.holder != "" {
			name = r.holder + ", by " + r.object
		}
		names = append(names, name+" ("+r.api+" API)")
	}
	c.Summary = "another lifecycle manager than Fairlead's"
	c.note("this cluster is managed by %s", strings.Join(names, ", "))
	c.note("fairlead's commands read and write the same objects, but the condition Ready is Fairlead's own: status calls what lacks it not reconciled, and install, upgrade and approve need --wait 0. Upgrade windows, holds and automatic rollback have no effect")
	c.note("do not run Fairlead's manager for the same API beside it: two managers undo each other's work; docs/migrating.md says how to go from the other implementation to this one")
}

// present reports whether a manager of Fairlead is known to run.
func (e *examiner) present() bool {
	return slices.ContainsFunc(e.managers, func(d appsv1.Deployment) bool { return replicas(&d) > 0 }) || slices.ContainsFunc(e.leaders, leader.alive)
}

// others reads the Deployments of other lifecycle managers: in all namespaces, or in the usual ones.
func (e rivalExam) others(ctx context.Context, c *Check) []appsv1.Deployment {
	var found []appsv1.Deployment
	for next := ""; ; {
		var all appsv1.DeploymentList
		err := e.Client.List(ctx, &all, client.Limit(operandPage), client.Continue(next))
		if apierrors.IsForbidden(err) {
			c.note("you may not read the Deployments of all namespaces: other managers are searched in namespaces %s alone", strings.Join(otherNamespaces, ", "))
			break
		}
		if !c.read("Deployments of other managers", err) {
			return found
		}
		for i := range all.Items {
			if isOther(&all.Items[i]) {
				found = append(found, all.Items[i])
			}
		}
		if next = all.Continue; next == "" {
			return found
		}
	}
	for _, namespace := range otherNamespaces {
		for _, name := range slices.Sorted(maps.Keys(otherDeployments)) {
			var d appsv1.Deployment
			if err := e.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &d); err == nil {
				found = append(found, d)
			} else if !apierrors.IsNotFound(err) && !c.read("Deployments of other managers", err) {
				break
			}
		}
	}
	return found
}

// otherLeases finds other managers that have no Deployment: those that hold a lease in another namespace than these.
func (e rivalExam) otherLeases(ctx context.Context, c *Check, there map[string]bool) (found []rival) {
	for _, namespace := range otherNamespaces {
		for _, name := range slices.Sorted(maps.Keys(otherLeases)) {
			var lease coordinationv1.Lease
			err := e.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &lease)
			if apierrors.IsNotFound(err) {
				continue
			}
			if !c.read("Leases of other managers", err) {
				break
			}
			if l := leaseExam(e).leaderOf(lease); l.alive() && !there[namespace] {
				found = append(found, rival{object: l.describe(), holder: l.name(), api: otherLeases[name], stop: "stop the process " + l.name()})
			}
		}
	}
	return found
}

// second finds a second manager of Fairlead. What one without a Deployment works on is not known.
func (e rivalExam) second(c *Check) {
	for _, l := range e.leaders {
		if running := slices.IndexFunc(e.managers, func(d appsv1.Deployment) bool { return replicas(&d) > 0 }); l.alive() && running >= 0 && !leaseExam(e).taken(l) {
			c.note("%s, which leads by %s, is a second manager of Fairlead: stop it where it works on the same namespaces as Deployment %s", l.name(), l.describe(), client.ObjectKeyFromObject(&e.managers[running]))
		}
	}
	for i := range e.managers {
		for j := range i {
			one, other := &e.managers[j], &e.managers[i]
			if replicas(one) == 0 || replicas(other) == 0 || !shares(argument(one, "namespaces"), argument(other, "namespaces")) || !shares(argument(one, "apis"), argument(other, "apis")) {
				continue
			}
			c.fail("Deployment "+client.ObjectKeyFromObject(other).String(), fmt.Sprintf("keep one: kubectl -n %s scale deployment %s --replicas=0; replicas of one Deployment take turns by their lease", other.Namespace, other.Name),
				"a second manager of Fairlead works on what Deployment %s works on", client.ObjectKeyFromObject(one))
		}
	}
}

// shares reports whether two lists of a flag have something in common; an empty one stands for everything.
func shares(one, other string) bool {
	if one == "" || other == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(one, ","), func(part string) bool { return slices.Contains(strings.Split(other, ","), part) })
}

// catalogNamespace examines the namespace of the catalogs that all namespaces see.
func (e *examiner) catalogNamespace(ctx context.Context, c *Check) {
	if e.foreign {
		c.Summary = "that of the other lifecycle manager is not examined"
		return
	}
	name := e.Namespace
	for i := range e.managers {
		if given := argument(&e.managers[i], "global-namespace"); given != "" {
			name = given
		}
	}
	var namespace corev1.Namespace
	err := e.Client.Get(ctx, client.ObjectKey{Name: name}, &namespace)
	object := "Namespace " + name
	switch {
	case apierrors.IsNotFound(err):
		c.fail(object, "kubectl create namespace "+name+"; then fairlead catalog add NAME IMAGE -n "+name+" --api v0; or set --global-namespace of the manager", "it does not exist, and the catalogs that all namespaces see belong there")
	case !c.read(object, err):
	case namespace.DeletionTimestamp != nil:
		c.fail(object, "see what its deletion waits for: kubectl get namespace "+name+" -o yaml; then create it again", "it is being deleted, and the catalogs that all namespaces see with it")
	default:
		c.Summary = name
	}
}
