// The contracts of listeners live in VestaTesting; this module goes when nobody imports it any more.
@_exported public import VestaListenerInterop
@_exported public import VestaTesting
