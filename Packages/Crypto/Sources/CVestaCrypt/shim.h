// libxcrypt: bcrypt through crypt_ra.
#include <crypt.h>
