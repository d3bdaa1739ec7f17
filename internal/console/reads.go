package console

import "net/http"

// reads is whether an image may be read that a user names; an empty one asks for any. On the machine of its user the console reads what the user could
// read there anyway. In a cluster it would read from the network of the manager for those who may not: services of the cluster, and the metadata of its
// nodes. So it reads what objects of the cluster name, which the manager reads too, and nothing else. All that a user names goes through here.
func (c *Console) reads(image string) error {
	if c.OwnMachine {
		return nil
	}
	what := "Images that you name are"
	if image != "" {
		what = "Image " + image[:min(len(image), maxAsked)] + " is"
	}
	return &statusError{http.StatusForbidden, what + " not read by a console in the cluster, which would read them from the network of the manager", "run fairlead console on your machine, and ask there"}
}
