// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Auth",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAuth", targets: ["VestaAuth"]),
    .library(name: "VestaAuthService", targets: ["VestaAuthService"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/ContractInterop"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/IdentityInterop"),
    .package(path: "../../Interop/ListenerInterop"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .target(name: "AuthFields", swiftSettings: settings),
    .target(
      name: "VestaAuth",
      dependencies: [
        "AuthFields",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "AppCheckInterop", package: "AppCheckInterop"),
        .product(name: "AuthInterop", package: "AuthInterop"),
        .product(name: "CryptoInterop", package: "CryptoInterop"),
        .product(name: "IdentityInterop", package: "IdentityInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAuthService",
      dependencies: [
        "AuthFields",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "CryptoInterop", package: "CryptoInterop"),
        .product(name: "IdentityInterop", package: "IdentityInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(name: "AuthFieldsTests", dependencies: ["AuthFields"], swiftSettings: settings),
    .testTarget(
      name: "VestaAuthTests",
      dependencies: [
        "VestaAuth",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "AppCheckInterop", package: "AppCheckInterop"),
        .product(name: "AppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "AuthInterop", package: "AuthInterop"),
        .product(name: "AuthInteropContracts", package: "AuthInterop"),
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "CryptoInterop", package: "CryptoInterop"),
        .product(name: "IdentityInterop", package: "IdentityInterop"),
        .product(name: "ListenerInterop", package: "ListenerInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAuthServiceTests",
      dependencies: [
        "AuthFields",
        "VestaAuthService",
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "ContractInterop", package: "ContractInterop"),
        .product(name: "CryptoInterop", package: "CryptoInterop"),
        .product(name: "IdentityInterop", package: "IdentityInterop"),
        .product(name: "IdentityInteropContracts", package: "IdentityInterop"),
        .product(name: "StoreInterop", package: "StoreInterop"),
        .product(name: "StoreInteropContracts", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
