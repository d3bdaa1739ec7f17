package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leaseExam examines the leases by which managers take turns.
type leaseExam struct{ *examiner }

// leader is a manager that has, or had, a lease.
type leader struct {
	lease  coordinationv1.Lease
	holder string
	// ahead is by how much its clock is ahead of that of the API server, and age how long ago it renewed its lease, by the latter.
	ahead, age time.Duration
}

// leaderOf reads a lease. The API server notes by its own clock when a client wrote it, so a wrong clock of the client does not make it seem dead.
func (e leaseExam) leaderOf(lease coordinationv1.Lease) leader {
	l := leader{lease: lease}
	if lease.Spec.HolderIdentity != nil {
		l.holder = *lease.Spec.HolderIdentity
	}
	written := writtenAt(lease.ManagedFields)
	if lease.Spec.RenewTime == nil { // no one has ever led by it
		l.holder = ""
		if written.IsZero() {
			written = lease.CreationTimestamp.Time
		}
		l.age = e.now().Sub(written)
		return l
	}
	renewed := lease.Spec.RenewTime.Time
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
func (e leaseExam) find(ctx context.Context, c *Check) {
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
		namespaces = append(namespaces, e.managers[i].Namespace, leaseNamespace(&e.managers[i]))
	}
	slices.Sort(namespaces)
	for _, ns := range slices.Compact(namespaces) {
		var lease coordinationv1.Lease
		err := e.Client.Get(ctx, client.ObjectKey{Namespace: ns, Name: managerName}, &lease)
		switch {
		case apierrors.IsNotFound(err):
		case c.read("Leases in namespace "+ns, err):
			e.leaders = append(e.leaders, e.leaderOf(lease))
		default:
			e.unread = append(e.unread, ns)
		}
	}
}

// elects reports whether the replicas of a manager take turns by a lease. The flag has another name in the manifests of the other implementation.
func elects(d *appsv1.Deployment) bool {
	on := false
	for _, container := range d.Spec.Template.Spec.Containers {
		for _, arg := range slices.Concat(container.Command, container.Args) {
			switch name, value, given := strings.Cut(arg, "="); {
			case name != "--leader-election" && name != "--leader-elect":
			case given:
				on, _ = strconv.ParseBool(value) // with another value it does not start
			default:
				on = true
			}
		}
	}
	return on
}

// leaseNamespace is where the lease of a manager is.
func leaseNamespace(d *appsv1.Deployment) string {
	return cmp.Or(argument(d, "leader-namespace"), d.Namespace)
}

// runsSince is since when a Deployment has pods that are available; false when it has none.
func runsSince(d *appsv1.Deployment) (time.Time, bool) {
	since := d.CreationTimestamp.Time
	for _, condition := range d.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable && condition.Status == corev1.ConditionTrue && condition.LastTransitionTime.After(since) {
			since = condition.LastTransitionTime.Time
		}
	}
	return since, d.Status.AvailableReplicas > 0 && replicas(d) > 0
}

// election examines which managers lead. A Deployment without pods is reported as that, and its lease says nothing more. It returns those that do.
func (e leaseExam) election(c *Check) (well []string) {
	judged := map[string]bool{} // namespaces of leases
	for i := range e.managers {
		d := &e.managers[i]
		name := "Deployment " + client.ObjectKeyFromObject(d).String()
		since, runs := runsSince(d)
		switch {
		case !runs:
		case !elects(d) && replicas(d) > 1:
			c.fail(name, fmt.Sprintf("add --leader-election to its arguments, or kubectl -n %s scale deployment %s --replicas=1", d.Namespace, d.Name),
				"all of its %d pods work on the same objects: it runs without --leader-election", replicas(d))
		case elects(d) && !judged[leaseNamespace(d)]:
			judged[leaseNamespace(d)] = true
			well = append(well, e.leads(c, d, since)...)
		}
	}
	return append(well, e.elsewhere(c)...)
}

// leads examines the lease of a Deployment that runs, and returns who has it.
func (e leaseExam) leads(c *Check, d *appsv1.Deployment, since time.Time) []string {
	namespace := leaseNamespace(d)
	remedy := fmt.Sprintf("read why no manager leads: kubectl -n %s logs -l app=%s --tail=50", d.Namespace, managerName)
	at := slices.IndexFunc(e.leaders, func(l leader) bool { return l.lease.Namespace == namespace })
	switch {
	case slices.Contains(e.unread, namespace): // which is noted
	case at < 0 && e.now().Sub(since) > settled:
		c.fail("Deployment "+client.ObjectKeyFromObject(d).String(), remedy,
			"no manager leads: its pods have been available for more than %s and wait for Lease %s/%s, which does not exist", settled, namespace, managerName)
	case at < 0:
		c.note("no manager leads yet: Lease %s/%s is not there, and Deployment %s has just begun", namespace, managerName, client.ObjectKeyFromObject(d))
	case e.leaders[at].alive():
		return []string{e.leaders[at].name() + " leads"}
	case e.leaders[at].age > settled && e.leaders[at].lease.Spec.RenewTime == nil:
		c.fail(e.leaders[at].describe(), remedy, "no manager leads: no one has held the lease since it was made, %s ago", e.leaders[at].age.Round(time.Second))
	case e.leaders[at].age > settled:
		l := e.leaders[at]
		c.fail(l.describe(), remedy, "no manager leads: %s renewed the lease %s ago, and leaders do so every few seconds", cmp.Or(l.name(), "one that stopped"), l.age.Round(time.Second))
	}
	return nil
}

// elsewhere examines the leases that no Deployment takes: those of managers that run outside of the cluster, whom it returns, and those that removed
// managers have left.
func (e leaseExam) elsewhere(c *Check) (well []string) {
	for _, l := range e.leaders {
		switch {
		case e.taken(l):
		case l.alive():
			well = append(well, l.name()+" leads, without a Deployment")
		case !e.known || l.age <= settled:
			c.note("no manager holds %s: it was renewed last %s ago", l.describe(), l.age.Round(time.Second))
		default:
			c.note("%s is left over from %s, which renewed it last %s ago and does not run any more; nothing needs it: kubectl -n %s delete lease %s", l.describe(),
				cmp.Or(l.name(), "a manager that stopped"), l.age.Round(time.Second), l.lease.Namespace, l.lease.Name)
		}
	}
	return well
}

// taken reports whether a Deployment takes a lease.
func (e leaseExam) taken(l leader) bool {
	return slices.ContainsFunc(e.managers, func(d appsv1.Deployment) bool { return elects(&d) && leaseNamespace(&d) == l.lease.Namespace })
}

// manager finds out whether a manager works.
func (e *examiner) manager(ctx context.Context, c *Check) {
	leases := leaseExam{e}
	leases.find(ctx, c)
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
	if !e.present() {
		for _, r := range (rivalExam{e}).rivals(ctx) {
			c.note("%s, of another lifecycle manager, works on the %s API: stop it before one of Fairlead's runs; docs/migrating.md says how to go from one to the other", r.object, r.api)
		}
	}
	c.Summary = strings.Join(append(well, leases.election(c)...), "; ")
}
