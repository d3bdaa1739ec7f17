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
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managerName is the name and the label app of the manager's Deployment, its service account and its lease, as shipped.
const managerName = "fairlead-manager"

// Where commands of people point who have no manager, or not the one of this version.
const (
	installManager = "install the manager: kubectl apply --server-side -k config, or the Helm chart in config/chart (docs/installing.md); or run one from here: fairlead manager"
	restartManager = "have the manager of this version apply its own, which it does when it starts: update its image, or kubectl -n %s rollout restart deployment %s; or run fairlead manager from here"
)

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

// leader is a manager that has, or had, a lease.
type leader struct {
	lease  coordinationv1.Lease
	holder string
	// ahead is by how much its clock is ahead of that of the API server, and age how long ago it renewed its lease, by the latter.
	ahead, age time.Duration
}

// leaderOf reads a lease. The API server notes by its own clock when a client wrote it, so a wrong clock of the client does not make it seem dead.
func (e *examiner) leaderOf(lease coordinationv1.Lease) leader {
	l := leader{lease: lease}
	if lease.Spec.HolderIdentity != nil {
		l.holder = *lease.Spec.HolderIdentity
	}
	if lease.Spec.RenewTime == nil {
		l.holder = ""
		return l
	}
	renewed := lease.Spec.RenewTime.Time
	written := writtenAt(lease.ManagedFields)
	if written.IsZero() {
		l.age = e.now().Sub(renewed)
		return l
	}
	l.age = e.now().Sub(written)
	if l.ahead = renewed.Sub(written); l.ahead > 0 {
		l.ahead = max(0, l.ahead-time.Second) // written is cut to the second
	}
	return l
}

func writtenAt(fields []metav1.ManagedFieldsEntry) time.Time {
	var last time.Time
	for _, f := range fields {
		if f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	return last
}

// alive reports whether the lease is held: leaders renew theirs every few seconds.
func (l leader) alive() bool {
	life := 15 * time.Second
	if s := l.lease.Spec.LeaseDurationSeconds; s != nil {
		life = time.Duration(*s) * time.Second
	}
	return l.holder != "" && l.age <= 4*life
}

// name is the pod or host that holds the lease, without the random part of its identity.
func (l leader) name() string {
	name, _, _ := strings.Cut(l.holder, "_")
	return name
}

func (l leader) describe() string { return "Lease " + client.ObjectKeyFromObject(&l.lease).String() }

// find reads the Deployments and leases of managers.
func (e *examiner) find(ctx context.Context, c *Check) {
	var all appsv1.DeploymentList
	labels := client.MatchingLabels{"app": managerName}
	what, err := "Deployments", e.Client.List(ctx, &all, labels)
	if apierrors.IsForbidden(err) {
		c.note("you may not read the Deployments of all namespaces: managers are searched in namespace %s alone (--manager-namespace)", e.Namespace)
		what, err = "Deployments in namespace "+e.Namespace, e.Client.List(ctx, &all, labels, client.InNamespace(e.Namespace))
	}
	e.known = c.read(what, err)
	e.managers = all.Items
	namespaces := []string{e.Namespace}
	for i := range e.managers {
		if ns := e.managers[i].Namespace; !slices.Contains(namespaces, ns) {
			namespaces = append(namespaces, ns)
		}
	}
	for _, ns := range namespaces {
		var lease coordinationv1.Lease
		err := e.Client.Get(ctx, client.ObjectKey{Namespace: ns, Name: managerName}, &lease)
		if apierrors.IsNotFound(err) {
			continue
		}
		if c.read("Leases in namespace "+ns, err) {
			e.leaders = append(e.leaders, e.leaderOf(lease))
		}
	}
}

// manager finds out whether a manager works.
func (e *examiner) manager(ctx context.Context, c *Check) {
	e.find(ctx, c)
	if len(e.managers) == 0 {
		e.outside(ctx, c)
		return
	}
	var well []string
	for i := range e.managers {
		if text := e.deployment(c, &e.managers[i]); text != "" {
			well = append(well, text)
		}
	}
	for _, l := range e.leaders {
		switch {
		case l.alive():
			well = append(well, l.name()+" leads")
		case len(c.Findings) == 0 && l.age > settled:
			c.fail(l.describe(), fmt.Sprintf("read why no manager leads: kubectl -n %s logs -l app=%s --tail=50", l.lease.Namespace, managerName),
				"no manager leads: %s renewed the lease %s ago, and leaders do so every few seconds", cmp.Or(l.name(), "one that stopped"), l.age.Round(time.Second))
		}
	}
	c.Summary = strings.Join(well, "; ")
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
	for _, l := range e.leaders {
		if l.alive() {
			c.Summary = l.name() + " leads, without a Deployment"
			return
		}
	}
	waits, worked := e.waiting(ctx)
	switch {
	case waits != "":
		c.fail(waits, installManager, "no manager runs: nothing has worked on it in %s, there is no Deployment with the label app=%s and no lease is held", settled, managerName)
	case len(e.leaders) > 0 && e.known:
		c.fail(e.leaders[0].describe(), installManager, "no manager runs: there is no Deployment with the label app=%s, and the lease is not held", managerName)
	case worked:
		c.note("there is no Deployment with the label app=%s and no lease is held; nothing waits for a manager, so one may run outside of the cluster, as fairlead manager does", managerName)
	case !e.known: // which is noted
	default:
		c.fail("cluster", installManager, "no manager runs: there is no Deployment with the label app=%s in any namespace, no Lease %s/%s, and no object that a manager has worked on", managerName, e.Namespace, managerName)
	}
}

// waiting is an object on which no manager has worked for a while, and whether there are others on which one has. What cannot be read is left out.
func (e *examiner) waiting(ctx context.Context) (waits string, worked bool) {
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
	for _, list := range []client.ObjectList{&subscriptions, &sources, &extensions, &catalogs} {
		_ = e.Client.List(ctx, list) // the lists stay empty
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
		for i, arg := range container.Args {
			if value, ok := strings.CutPrefix(arg, "--"+flag+"="); ok {
				return value
			}
			if arg == "--"+flag && i+1 < len(container.Args) {
				return container.Args[i+1]
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
