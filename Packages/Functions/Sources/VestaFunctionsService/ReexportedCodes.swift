// The code of an `HTTPSError` is the seam's: a program that throws one names codes without another import.
@_exported public import enum VestaServiceInterop.ServiceCode
