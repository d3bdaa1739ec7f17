package permissions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// AcknowledgedKey is the annotation of a ClusterExtension with the Digest of the increase that a person has agreed to.
const AcknowledgedKey = "operators.fairlead.dev/acknowledged-permissions"

// Increase is what a new revision lets subjects do that the old one did not.
type Increase struct {
	// Grants are sorted by subject.
	Grants []Grant
	// Unjudged is why it could not be told what is added; there are no grants then, and the increase is not empty.
	Unjudged string

	content []byte
}

// Grant is what a subject gets.
type Grant struct {
	// Subject is "ServiceAccount ns/name", "User name", "Group name", "holders of the ClusterRole name", or the object that lets one of Accounts
	// act, such as "Deployment ns/name".
	Subject string
	Rules   []MissingRule
	// Roles are those that the subject is newly bound to and that are not among the objects, so that it is not known what they allow.
	Roles []string
	// Accounts are those that are let act newly and that are not among the objects, so that it is not known what they may do.
	Accounts []string
}

// Compare says what the new objects let subjects do that the old ones did not. The service accounts of a revision count as one: what one of them
// could do before is nothing new to another. What roles allow that no one is bound to does not count, unless ClusterRoles of the cluster take
// it up by label; nor do, then, the APIs that the new objects define themselves. An account that is not among the new objects counts as a whole
// where a workload runs as it, or a Secret gets its token, and nothing of the old objects did.
func Compare(old, new []*unstructured.Unstructured) *Increase {
	work := &budget{rights: maxRights, steps: maxSteps}
	before, err := givenBy(old, work)
	if err != nil {
		return unjudged(err, new)
	}
	after, err := givenBy(new, work)
	if err != nil {
		return unjudged(err, new)
	}
	increase := &Increase{}
	had := &had{given: before, work: work, pool: &held{work: work, namespaces: map[string]heldRules{}}, poolRoles: map[foreignRole]bool{}}
	for account := range before.accounts {
		had.pool.add(before.rules[account])
		maps.Copy(had.poolRoles, before.roles[account])
	}
	subjects := sets.KeySet(after.rules).Union(sets.KeySet(after.roles)).Union(sets.KeySet(after.actors))
	for _, subject := range sets.List(subjects) {
		grant, err := had.lacks(after, subject)
		if err != nil {
			return unjudged(err, new)
		}
		if len(grant.Rules)+len(grant.Roles)+len(grant.Accounts) > 0 {
			increase.Grants = append(increase.Grants, grant)
		}
	}
	return increase
}

// unjudged keeps what the objects say about permissions, so that no one agrees to one thing and gets another.
func unjudged(err error, objects []*unstructured.Unstructured) *Increase {
	var contents []string
	for _, object := range objects {
		if object.GroupVersionKind().Group == "rbac.authorization.k8s.io" || object.GetKind() == "ServiceAccount" {
			content, _ := json.Marshal(object.Object)
			contents = append(contents, string(content))
		}
		if account := actsAs(object); account != "" {
			contents = append(contents, describe(object)+" acts as "+account)
		}
	}
	slices.Sort(contents)
	return &Increase{Unjudged: err.Error(), content: []byte(strings.Join(contents, "\n"))}
}

// Empty says that nothing is added.
func (i *Increase) Empty() bool { return i == nil || len(i.Grants) == 0 && i.Unjudged == "" }

// Digest names what is added: the same rules for the same subjects, the same digest. It is empty when nothing is added.
func (i *Increase) Digest() string {
	if i.Empty() {
		return ""
	}
	sum := sha256.Sum256(append([]byte(i.String()+"\n"), i.content...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// String is what is added, line by line.
func (i *Increase) String() string { return strings.Join(i.lines(), "\n") }

func (i *Increase) lines() []string {
	if i.Empty() {
		return nil
	}
	if i.Unjudged != "" {
		return []string{"what is added is not known: " + i.Unjudged}
	}
	var lines []string
	for _, grant := range i.Grants {
		lines = append(lines, grant.Subject+":")
		for _, rule := range grant.Rules {
			lines = append(lines, "  + "+rule.String())
		}
		for _, role := range grant.Roles {
			lines = append(lines, "  + all that is allowed by "+role)
		}
		for _, account := range grant.Accounts {
			lines = append(lines, "  + all that the "+account+" may do, which is not part of the bundle")
		}
	}
	return lines
}

// Message is what the status of an extension says, with how to agree. It is bounded, and empty when nothing is added.
func (i *Increase) Message() string {
	if i.Empty() {
		return ""
	}
	return "the upgrade asks for more permissions than the installed version has; to agree, set the annotation " +
		AcknowledgedKey + ": " + i.Digest() + bounded(i.lines())
}
