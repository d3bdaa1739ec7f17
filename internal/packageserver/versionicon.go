package packageserver

import (
	"encoding/base64"

	"fairlead.dev/fairlead/catalog"
)

// maxIcon bounds a decoded icon: API servers hand it through, and browsers show it.
const maxIcon = 4 << 20

// Icon is the picture of a package.
type Icon struct {
	Data      []byte
	MediaType string
	// Tag names the picture: it changes when another operator becomes the head of the default channel.
	Tag string
}

// FindIcon returns the picture of a package: that of the operator in its default channel, or of the package. It is nil when there is
// none that can be shown; found is false when there is no such package. The error is that of an index which cannot be read.
func FindIcon(x *catalog.Index, name string) (icon *Icon, found bool, err error) {
	info, ok := x.Package(name)
	if !ok {
		return nil, false, nil
	}
	c, o, err := shown(x, info)
	if o == nil {
		return nil, false, err
	}
	if len(o.icons) == 0 || base64.StdEncoding.DecodedLen(len(o.icons[0].Data)) > maxIcon {
		return nil, true, nil
	}
	data, err := base64.StdEncoding.DecodeString(o.icons[0].Data)
	if err != nil || len(data) == 0 {
		return nil, true, nil
	}
	return &Icon{Data: data, MediaType: o.icons[0].MediaType, Tag: info.Name + "." + c.Name + "." + c.Head}, true, nil
}

func base64Text(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
