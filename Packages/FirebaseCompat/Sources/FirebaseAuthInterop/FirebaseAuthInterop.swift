@_exported import VestaAuthInterop
