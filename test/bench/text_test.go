package bench

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// text is an object as JSON, with gaps for what differs from tenant to tenant. So tens of thousands of objects are sent without being held.
type text []piece

// piece is a stretch of a text, and what follows it.
type piece struct {
	text []byte
	gap  gap
	rest string // of the UID, for gapUID
}

type gap int

const (
	gapNone gap = iota
	gapNamespace
	gapUID
	gapVersion
)

// firstTenantVersion is the least resource version of an object of a tenant, lastVersion is that of all lists. Recorded ones are below both.
const (
	firstTenantVersion = 1_000_000
	lastVersion        = 900_000_000
)

// uidHead is how much of a UID differs between tenants; it is eight hexadecimal digits.
const uidHead = 8

// newText finds the gaps in an object of the namespace model.
func newText(object []byte, model string, meta metav1.ObjectMeta) text {
	const mark = "\x00" // is in no JSON
	version := fmt.Sprintf(`"resourceVersion":%q`, meta.ResourceVersion)
	marked := strings.NewReplacer(
		model, mark+"n",
		string(meta.UID), mark+"u",
		version, `"resourceVersion":"`+mark+`v"`,
	).Replace(string(object))
	var out text
	for i, part := range strings.Split(marked, mark) {
		if i > 0 {
			last := &out[len(out)-1]
			switch part[0] {
			case 'n':
				last.gap = gapNamespace
			case 'u':
				last.gap, last.rest = gapUID, string(meta.UID[uidHead:])
			case 'v':
				last.gap = gapVersion
			}
			part = part[1:]
		}
		out = append(out, piece{text: []byte(part)})
	}
	return out
}

// write appends the object of a tenant.
func (t text) write(to *bytes.Buffer, tenant int) {
	for _, p := range t {
		to.Write(p.text)
		switch p.gap {
		case gapNamespace:
			to.WriteString(tenantName(tenant))
		case gapUID:
			fmt.Fprintf(to, "%08x%s", tenant, p.rest)
		case gapVersion:
			to.WriteString(strconv.Itoa(firstTenantVersion + tenant))
		}
	}
}

// tenantName is the namespace of a tenant.
func tenantName(i int) string { return fmt.Sprintf("tenant-%05d", i) }

// tenantOf is the number of the tenant that has a namespace.
func tenantOf(namespace string, tenants int) (int, bool) {
	digits, found := strings.CutPrefix(namespace, "tenant-")
	i, err := strconv.Atoi(digits)
	return i, found && err == nil && i >= 0 && i < tenants && tenantName(i) == namespace
}
