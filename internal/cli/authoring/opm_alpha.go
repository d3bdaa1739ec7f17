package authoring

import ()
