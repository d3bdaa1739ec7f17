package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managerName is the name and the label app of the manager's Deployment, its service account and its lease, as shipped.
const managerName = "fairlead-manager"

// Where commands of people point who have no manager, or not the one of this version.
const (
	installManager = "install the manager: fairlead system install --image IMAGE, kubectl apply --server-side -k config, or the Helm chart in config/chart (docs/installing.md); or run one from here: fairlead manager"
	restartManager = "have the manager of this version apply its own, which it does when it starts: update its image, or kubectl -n %s rollout restart deployment %s; or run fairlead manager from here"
)

// installBeside is how to install a manager for one API alone, where another lifecycle manager works on the other one.
var installBeside = map[string]string{
	"v0": "install a manager for the v0 API alone: fairlead system install --image IMAGE --apis v0, with kubectl and the component config/profiles/v0, or the Helm chart in config/chart with --set 'apis={v0}' (docs/installing.md); or run one from here: fairlead manager --apis=v0",
	"v1": "install a manager for the v1 API alone: fairlead system install --image IMAGE --apis v1, or the Helm chart in config/chart with --set 'apis={v1}' (docs/installing.md); or run one from here: fairlead manager --apis=v1",
}

// settled is how long an object may be without a status before no manager is thought to work on it.
const settled = time.Minute

// connection asks the API server who it is, and what its clock says.
func (e *examiner) connection(ctx context.Context, c *Check) {
	sent := e.Now()
	answer, err := e.Server(ctx)
	remedy := "see that the address in the kubeconfig is right and the cluster runs; --kubeconfig and --context name another one"
	switch {
	case apierrors.IsUnauthorized(err):
		c.fail("API server "+answer.Address, "renew the credentials of the kubeconfig; --context or --kubeconfig chooses others", "it does not accept who you are: %v", err)
		return
	case apierrors.IsForbidden(err):
		c.forbid("the version of the cluster")
	case err != nil && strings.Contains(err.Error(), "x509: "):
		c.fail("API server "+answer.Address, "correct certificate-authority-data of the cluster in the kubeconfig, or the clock of this machine", "its certificate is not trusted: %v", err)
		return
	case err != nil:
		c.fail("API server "+answer.Address, remedy, "it does not answer: %v", err)
		return
	}
	if !answer.Date.IsZero() {
		received := e.Now()
		// The answer was made between the two, and its time is cut to the second.
		e.ahead, e.clocked = answer.Date.Add(500*time.Millisecond).Sub(sent.Add(received.Sub(sent)/2)), true
	}
	c.Summary = fmt.Sprintf("Kubernetes %s at %s", cmp.Or(answer.Version, "of an unknown version"), answer.Address)
}

// deployment examines a manager of the cluster. It returns what it is when it works.
func (e *examiner) deployment(c *Check, d *appsv1.Deployment) string {
	wanted := replicas(d)
	name := "Deployment " + client.ObjectKeyFromObject(d).String()
	switch {
	case wanted == 0:
		c.fail(name, fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=2", d.Namespace, d.Name), "no manager runs: it is scaled to 0")
		return ""
	case d.Status.AvailableReplicas == 0:
		why := ""
		for _, condition := range d.Status.Conditions {
			if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue || condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse {
				why += ": " + condition.Message
			}
		}
		c.fail(name, fmt.Sprintf("see why: kubectl -n %s describe pods -l app=%s, and kubectl -n %[1]s logs -l app=%s --tail=50", d.Namespace, managerName, managerName), "no manager runs: 0 of %d pods are available%s", wanted, why)
		return ""
	case d.Status.AvailableReplicas < wanted:
		c.note("of %s %d of %d pods are available: kubectl -n %s describe pods -l app=%s", name, d.Status.AvailableReplicas, wanted, d.Namespace, managerName)
	}
	return fmt.Sprintf("%s has %d of %d pods available", name, d.Status.AvailableReplicas, wanted)
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// outside finds out whether a manager works that has no Deployment. One without a lease is known by its work alone.
func (e *examiner) outside(ctx context.Context, c *Check) {
	if well := (leaseExam{e}).elsewhere(c); len(well) > 0 {
		c.Summary = strings.Join(well, "; ")
		return
	}
	others := rivalExam{e}
	rivals := others.rivals(ctx)
	e.rivalsRead.into(c)
	none, remedy := "no manager runs", installManager
	if e.foreign = len(rivals) > 0; e.foreign {
		none, remedy = "no manager works on its API", installBeside[unmanaged(rivals)]
		others.managedBy(c, rivals)
	}
	waits, worked := e.waiting(ctx, c, rivals)
	switch {
	case waits != "":
		c.fail(waits, remedy, "%s: nothing has worked on it in %s, there is no Deployment with the label app=%s and no lease is held", none, settled, managerName)
	case e.foreign:
	case worked:
		c.note("there is no Deployment with the label app=%s and no lease is held; nothing waits for a manager, so one may run outside of the cluster, as fairlead manager does", managerName)
	case !e.known: // which is noted
	default:
		lease := fmt.Sprintf("no Lease %s/%s", e.Namespace, managerName)
		if len(e.leaders) > 0 {
			lease = e.leaders[0].describe() + " is not held"
		}
		c.fail("cluster", installManager, "no manager runs: there is no Deployment with the label app=%s in any namespace, %s, and no object that a manager has worked on", managerName, lease)
	}
}

// unmanaged is the API that no other lifecycle manager works on; empty where they work on both.
func unmanaged(rivals []rival) string {
	for _, api := range []string{"v0", "v1"} {
		if !slices.ContainsFunc(rivals, func(r rival) bool { return r.api == api }) {
			return api
		}
	}
	return ""
}

// waiting is an object on which no manager has worked for a while, and whether there are others on which one has. Objects of an API that another
// lifecycle manager works on are left to it. What cannot be read is noted, and left out.
func (e *examiner) waiting(ctx context.Context, c *Check, rivals []rival) (waits string, worked bool) {
	judge := func(kind string, o client.Object, has bool) {
		worked = worked || has
		if !has && waits == "" && e.now().Sub(o.GetCreationTimestamp().Time) > settled {
			waits = kind + " " + strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")
		}
	}
	var subscriptions v1alpha1.SubscriptionList
	var sources v1alpha1.CatalogSourceList
	var extensions olmv1.ClusterExtensionList
	var catalogs olmv1.ClusterCatalogList
	for _, one := range []struct {
		what, api string
		list      client.ObjectList
	}{{"Subscriptions", "v0", &subscriptions}, {"CatalogSources", "v0", &sources}, {"ClusterExtensions", "v1", &extensions}, {"ClusterCatalogs", "v1", &catalogs}} {
		if !slices.ContainsFunc(rivals, func(r rival) bool { return r.api == one.api }) {
			c.read(one.what, e.Client.List(ctx, one.list)) // where it cannot be read the list stays empty
		}
	}
	for i := range subscriptions.Items {
		s := &subscriptions.Items[i]
		judge(v1alpha1.SubscriptionKind, s, len(s.Status.Conditions) > 0)
	}
	for i := range sources.Items {
		s := &sources.Items[i]
		judge(v1alpha1.CatalogSourceKind, s, len(s.Status.Conditions) > 0)
	}
	for i := range extensions.Items {
		x := &extensions.Items[i]
		judge(olmv1.ClusterExtensionKind, x, len(x.Status.Conditions) > 0)
	}
	for i := range catalogs.Items {
		x := &catalogs.Items[i]
		judge(olmv1.ClusterCatalogKind, x, len(x.Status.Conditions) > 0)
	}
	return waits, worked
}

// argument is the value of a flag of a manager; empty when it is not given.
func argument(d *appsv1.Deployment, flag string) string {
	for _, container := range d.Spec.Template.Spec.Containers {
		all := slices.Concat(container.Command, container.Args)
		for i, arg := range all {
			if value, ok := strings.CutPrefix(arg, "--"+flag+"="); ok {
				return value
			}
			if arg == "--"+flag && i+1 < len(all) {
				return all[i+1]
			}
		}
	}
	return ""
}

// works reports whether the managers of the cluster work on an API. One that runs elsewhere is taken to work on both.
func (e *examiner) works(api string) bool {
	for i := range e.managers {
		apis := argument(&e.managers[i], "apis")
		if apis == "" || slices.Contains(strings.Split(apis, ","), api) {
			return true
		}
	}
	return len(e.managers) == 0
}

// accountOf is the service account of a manager.
func accountOf(d *appsv1.Deployment) (namespace, name string) {
	return d.Namespace, cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")
}

// own is the namespace and name of the manager's Deployment, the shipped ones where there is none.
func (e *examiner) own() (namespace, name string) {
	if len(e.managers) > 0 {
		return e.managers[0].Namespace, e.managers[0].Name
	}
	return e.Namespace, managerName
}
