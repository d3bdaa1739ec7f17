package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// otherDeployments are the Deployments of other lifecycle managers, with the API that each works on.
var otherDeployments = map[string]string{
	"olm-operator": "v0", "catalog-operator": "v0", "operator-controller-controller-manager": "v1", "catalogd-controller-manager": "v1",
}

// otherLeases are the leases of other lifecycle managers, which one that runs outside of the cluster has, too.
var otherLeases = map[string]string{"9c4404e7.operatorframework.io": "v1", "catalogd-operator-lock": "v1"}

// otherNamespaces are where other lifecycle managers are installed as a rule.
var otherNamespaces = []string{"olm", "operator-lifecycle-manager", "openshift-operator-lifecycle-manager", "olmv1-system", "openshift-operator-controller", "openshift-catalogd"}

const twoManagers = "both write the same objects: keep one; docs/migrating.md says how to go from the other implementation to this one. To stop it: "

// otherManagers finds managers that work on the same objects as the first one.
func (e *examiner) otherManagers(ctx context.Context, c *Check) {
	deployments := e.others(ctx, c)
	there := map[string]bool{} // namespaces with a Deployment that was judged
	for i := range deployments {
		d := &deployments[i]
		api := otherDeployments[d.Name]
		there[d.Namespace] = true
		name := "Deployment " + client.ObjectKeyFromObject(d).String()
		stop := fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=0", d.Namespace, d.Name)
		switch {
		case replicas(d) == 0:
		case !e.present():
			c.note("%s is another lifecycle manager, for the %s API; fairlead migrates from it: docs/migrating.md", name, api)
		case e.works(api):
			c.fail(name, twoManagers+stop, "another lifecycle manager works on the %s API beside Fairlead's", api)
		}
	}
	e.otherLeases(ctx, c, there)
	e.second(c)
	if c.Summary = "none"; e.present() {
		c.Summary = "none beside Fairlead's"
	}
}

// present reports whether a manager of Fairlead is known to run.
func (e *examiner) present() bool {
	return slices.ContainsFunc(e.managers, func(d appsv1.Deployment) bool { return replicas(&d) > 0 }) || slices.ContainsFunc(e.leaders, leader.alive)
}

// others reads the Deployments of other lifecycle managers: in all namespaces, or in the usual ones.
func (e *examiner) others(ctx context.Context, c *Check) []appsv1.Deployment {
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
			if otherDeployments[all.Items[i].Name] != "" {
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

// otherLeases finds other managers that have no Deployment.
func (e *examiner) otherLeases(ctx context.Context, c *Check, there map[string]bool) {
	for _, namespace := range otherNamespaces {
		for _, name := range slices.Sorted(maps.Keys(otherLeases)) {
			var lease coordinationv1.Lease
			if err := e.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &lease); err != nil {
				if apierrors.IsNotFound(err) || c.read("Leases of other managers", err) {
					continue
				}
				break
			}
			if l, api := e.leaderOf(lease), otherLeases[name]; l.alive() && !there[namespace] && e.present() && e.works(api) {
				c.fail(l.describe(), twoManagers+"stop the process "+l.name(), "another lifecycle manager, %s, works on the %s API beside Fairlead's", l.name(), api)
			}
		}
	}
}

// second finds a second manager of Fairlead.
func (e *examiner) second(c *Check) {
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
