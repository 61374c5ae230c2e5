@_exported import VestaDataCoding
